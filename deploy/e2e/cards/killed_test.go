package cards

import (
	"testing"

	"github.com/switchyard-dev/switchyard/shared/card"
)

// The hub is killed in the middle of all scenarios, in those that ask while a person thinks. The trace of each is that of one who was not disturbed.
func TestScenariosGoOnAsTheyWereWhenTheHubWasKilled(t *testing.T) {
	t.Parallel()
	all := scenarios()
	var agents []string
	for _, sc := range all {
		agents = append(agents, sc.name)
	}
	s := newStage(t, agents...)
	lines, at := make([]*line, len(all)), make([]card.Event, len(all))
	for i, sc := range all {
		lines[i] = s.enter(sc.name, sc)
		at[i] = lines[i].until(sc.steps[0].at)
	}
	s.KillHub()
	for _, l := range lines {
		l.lost("the hub is killed, and started again")
	}
	s.StartHub()
	for i, sc := range all {
		questions := 0
		if sc.asks {
			questions = 1
		}
		l := lines[i].again(questions)
		l.resume()
		sc.steps[0].do(l, at[i])
		l.play(sc.steps[1:])
		l.end()
		l.nothing()
		if *update {
			continue // the transcripts are being written
		}
		if got, want := numbered(l.script.text()), numbered(golden(t, sc.name)); got != want {
			t.Errorf("%s: with a hub that was killed it is\n%s\nwithout\n%s", sc.name, got, want)
		}
	}
}
