package board

import (
	"errors"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

func TestALineThatBeginsWithASlashActsOnWhatIsAtWork(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.keys("enter")
	for text, want := range map[string]Act{
		"/steer leave the tests alone": {Session: demo, What: Steer, Text: "leave the tests alone"},
		"/compact":                     {Session: demo, What: Compact}, "/abort": {Session: demo, What: Abort}, "/retry": {Session: demo, What: Retry},
	} {
		d.typed(text)
		d.keys("enter")
		if got := done[Act](d); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v", text, got)
		}
		if sent := done[Send](d); len(sent) != 0 {
			t.Errorf("%s was sent as well: %+v", text, sent)
		}
	}
	for _, text := range []string{"/steer", "/usr/bin is full", "/abort it", "say /abort"} {
		d.typed(text)
		d.keys("enter")
		if sent := done[Send](d); len(sent) != 1 || sent[0].Text != text {
			t.Errorf("%s: sent %+v", text, sent)
		}
	}
	d.Acted(Act{Session: demo, What: Retry}, "it tries again now", nil)
	d.mustShow("it tries again now")
	d.Acted(Act{Session: demo, What: Steer, Text: "wait"}, "", errors.New("no task is at work"))
	d.mustShow("not done: no task is at work", "/steer wait")
}
