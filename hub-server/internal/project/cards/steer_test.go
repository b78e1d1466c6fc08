package cards_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// TestWhatWasSaidToARunAndHowFarItCame has a steer that is taken, one that is taken back, and one that waits when the run ends. The state is stored
// and read again between any two facts.
func TestWhatWasSaidToARunAndHowFarItCame(t *testing.T) {
	s := cards.New(trace, session, card.English)
	var told []string
	apply := func(kind event.Type, payload string) {
		t.Helper()
		frames := s.Apply(cards.Fact{
			Place: s.Place() + 1, At: time.Unix(1700000000, 0), Run: cards.Run{ID: theRun}, Event: kind, Payload: json.RawMessage(payload),
		})
		text := lines(frames)
		for _, said := range []string{
			"Said to the agent: zero", "Said to the agent: one", "Said to the agent: two", "Said to the agent: three", "has heard", "taken back",
			"has not heard what was said to it (1)",
		} {
			if strings.Contains(text, said) {
				told = append(told, said)
			}
		}
		again, err := cards.Restore(s.Encode())
		if err != nil {
			t.Fatal(err)
		}
		s = again
	}
	apply(event.RunSteered, `{"steer_id":"steer_0","text":"zero","user_id":"user_1"}`) // before there is a turn
	apply(event.RunStarted, `{"started_at":"2026-05-07T10:00:00Z"}`)
	apply(event.RunSteered, `{"steer_id":"steer_1","text":"one","user_id":"user_1"}`)
	apply(event.RunSteered, `{"steer_id":"steer_2","text":"two","user_id":"user_1"}`)
	apply(event.SteerTaken, `{"steer_id":"steer_1"}`)
	apply(event.SteerTaken, `{"steer_id":"steer_1"}`)
	apply(event.SteerWithdrawn, `{"steer_id":"steer_2","user_id":"user_1"}`)
	apply(event.SteerTaken, `{"steer_id":"steer_9"}`)
	apply(event.RunSteered, `{"steer_id":"steer_3","text":"three","user_id":"user_1"}`)
	apply(event.RunCompleted, `{}`)
	want := []string{
		"Said to the agent: one", "Said to the agent: two", "has heard", "taken back", "Said to the agent: three", "has not heard what was said to it (1)",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
