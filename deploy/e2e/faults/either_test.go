package faults

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// hubKills is how often one of two hubs is killed.
const hubKills = 60

// P2, P3. Of two hubs one or the other is killed, at moments that follow from the seed, while conversations go on. Edge and devices find the other
// one through a load balancer that knows no sessions.
func TestEitherOfTwoHubsIsKilledAtAnyMomentAndNothingIsLost(t *testing.T) {
	t.Parallel()
	effort := effortOf(t)
	s := newSeveral(t)
	s.work("--events", "80", "--rate", "80", "--tools")
	s.asker, s.seen = s.Device("asker", s.Proxy.URL()), s.Device("watcher", s.Proxy.URL()).Watch()
	random := rand.New(rand.NewPCG(effort.Seed, 2))
	kills := effort.Of(hubKills)
	turns := s.during(3, func() {
		for range kills {
			<-time.After(time.Duration(random.Int64N(int64(time.Second))))
			hub := s.hubProcesses()[random.IntN(2)]
			hub.kill()
			<-time.After(time.Duration(random.Int64N(int64(time.Second))))
			hub.start()
		}
	})
	ended, events, whole := s.examine(turns)
	if ended[event.RunCompleted] != len(turns) {
		t.Errorf("runs ended as %v", ended)
	}
	s.seen.Check()
	for _, turn := range turns {
		s.seen.UntilSettled(turn.run)
	}
	moved := len(s.seen.Outages())
	if moved == 0 && kills > 10 {
		t.Error("positive control: no kill has cut the watcher off")
	}
	figure(t, "P2, P3, with two hubs", "one of them killed %d times, %d runs, %d events, the watcher cut off %d times", kills, len(turns), events, moved)
	for what, spoil := range spoilers() {
		if whole.spoilt(spoil).examine() == nil {
			t.Errorf("positive control: nobody notices a log with %s", what)
		}
	}
}
