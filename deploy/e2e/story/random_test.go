package story

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

var (
	seed   = flag.Uint64("seed", 0, "what the tests of random moments do; 0: something new, which is printed")
	faults = flag.Int("faults", 6, "how many faults TestNothingIsLostAtRandomMoments makes")
)

// randomOf is what the flag says, or something new, and prints how to have it again.
func randomOf(t *testing.T) *rand.Rand {
	t.Helper()
	chosen := *seed
	if chosen == 0 {
		chosen = uint64(time.Now().UnixNano())
	}
	t.Logf("again with: go test ./story -run '^%s$' -seed %d -faults %d", t.Name(), chosen, *faults)
	return rand.New(rand.NewPCG(chosen, 0))
}

// Faults at moments that nobody has chosen. The edge lives: what its agent says must all arrive.
func TestNothingIsLostAtRandomMoments(t *testing.T) {
	t.Parallel()
	random := randomOf(t)
	s := newScene(t, "--events", "1500", "--rate", "150", "--tools", "--artifact", "report.md")
	run := s.begin()
	for range *faults {
		<-time.After(time.Duration(random.IntN(1200)) * time.Millisecond)
		switch fault := random.IntN(4); fault {
		case 0:
			t.Log("the hub is killed")
			s.KillHub()
			s.StartHub()
		case 1:
			t.Log("the tunnel is cut")
			s.Proxy.Cut()
		case 2:
			t.Log("the tunnel is gone for a moment")
			s.Proxy.Down()
			<-time.After(time.Duration(random.IntN(300)) * time.Millisecond)
			s.Proxy.Heal()
		case 3:
			t.Log("a device is cut off")
			s.seenA.Close()
			s.seenA.Reopen()
		}
	}
	s.complete(run)
}

// The same with the edge among the victims. A run that it had begun ends as interrupted, and its log holds a beginning of what was said. One that
// it had not heard of before it died is begun after the restart, so somebody has to end it.
func TestEveryRunEndsAndNothingIsMadeUpWhenTheEdgeIsKilledAtRandomMoments(t *testing.T) {
	t.Parallel()
	const kills = 4
	s := newScene(t, "--events", "100000", "--rate", "150", "--tools")
	random := randomOf(t)
	for i := range kills {
		asked := fmt.Sprintf("work until you are killed for the time %d", i)
		run := s.b.Run(s.session, "@worker "+asked)
		<-time.After(time.Duration(random.IntN(700)) * time.Millisecond)
		s.edge.Kill()
		restart := time.Now()
		s.edge.Start()
		want := client.RunStateInterrupted
		if s.begunAfter(restart, run) {
			want = client.RunStateCancelled
		}
		s.truth.MustBePrefix(asked, s.settle(run, want))
	}
}

// begunAfter waits until the edge has accounted for a run: it has ended, or it was begun only after that time and is cancelled here.
func (s *scene) begunAfter(restart time.Time, run id.Run) bool {
	s.t.Helper()
	for {
		switch task := s.Owner().Task(run); {
		case !task.EndedAt.IsZero():
			return false
		case task.StartedAt.After(restart):
			s.cancel(run)
			return true
		}
		<-time.After(20 * time.Millisecond) // between two looks at the hub
	}
}
