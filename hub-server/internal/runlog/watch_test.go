package runlog

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// oneRun is a record with a single running run whose log is empty. Methods that a test does not reach panic.
type oneRun struct {
	Store

	mu      sync.Mutex
	run     Run
	online  bool
	held    bool      // at another hub, as the store has it
	revoked time.Time // of the edge; zero while it may connect
}

func (s *oneRun) state() run.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run.State
}

func (s *oneRun) arrive(online bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.online = online
}

// hold says whether the store has the edge at another hub.
func (s *oneRun) hold(elsewhere bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = elsewhere
}

func (s *oneRun) Holder(context.Context, id.Edge) (Holder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Holder{Elsewhere: s.held}, nil
}

// begin starts another run on the same edge.
func (s *oneRun) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run.ID, s.run.State, s.run.LastEventSeq = id.NewRun(), run.StateRunning, 0
}

func (s *oneRun) revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = time.Now()
}

func (s *oneRun) Edge(_ context.Context, edge id.Edge) (fleet.Edge, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fleet.Edge{ID: edge, RevokedAt: s.revoked}, nil
}

func (s *oneRun) EdgesOf(context.Context, id.User) ([]fleet.Edge, error) { return nil, nil }

func (s *oneRun) Online(id.Edge) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.online
}

func (s *oneRun) Run(context.Context, id.Run) (Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run, nil
}

func (s *oneRun) DropUpload(context.Context, Upload) error                   { return nil }
func (s *oneRun) SweepUploads(context.Context, time.Time) error              { return nil }
func (s *oneRun) WaitingRuns(context.Context, id.Run, int) ([]NewRun, error) { return nil, nil }
func (s *oneRun) AbandonedRuns(context.Context) ([]Run, error)               { return nil, nil }

func (s *oneRun) OpenRuns(context.Context, id.Edge) ([]Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run.State.Ended() {
		return nil, nil
	}
	return []Run{s.run}, nil
}

func (s *oneRun) AppendOwn(_ context.Context, _ id.Run, _ EventSeq, entries []Entry) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		s.run.State, _ = run.Advance(s.run.State, e.Type, 0)
		s.run.LastEventSeq++
	}
	return true, nil
}

// watched runs a Watch that interrupts after an hour over one running run.
func watched(t *testing.T, s *oneRun) {
	t.Helper()
	s.run = Run{ID: id.NewRun(), Edge: id.NewEdge(), State: run.StateRunning, TraceID: "0123456789abcdef0123456789abcdef"}
	services := New(Config{
		Store: s, Edges: s, Presence: s, Signer: &Signer{}, Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("hub"),
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- NewWatch(services.Runs, nil, time.Hour).Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAnEdgeThatStaysAwayHasItsRunsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &oneRun{}
		watched(t, s)
		pass(time.Hour)
		if s.state() != run.StateRunning {
			t.Fatalf("after an hour less the first look the run is %s", s.state())
		}
		pass(2 * time.Second)
		if s.state() != run.StateInterrupted {
			t.Errorf("after more than an hour the run is %s", s.state())
		}
	})
}

func TestAnEdgeThatComesBackBeginsANewAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &oneRun{}
		watched(t, s)
		pass(50 * time.Minute)
		s.arrive(true)
		pass(2 * time.Second)
		s.arrive(false)
		pass(50 * time.Minute)
		if s.state() != run.StateRunning {
			t.Errorf("two short absences made the run %s", s.state())
		}
		pass(11 * time.Minute)
		if s.state() != run.StateInterrupted {
			t.Errorf("an absence of more than an hour left the run %s", s.state())
		}
	})
}

// A hub that hears nothing of the others any more does not take the edges that are there for absent.
func TestAnEdgeThatTheStoreHasAtAnotherHubIsNotAbsentHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &oneRun{}
		watched(t, s)
		pass(50 * time.Minute)
		s.hold(true)
		pass(3 * time.Hour)
		if s.state() != run.StateRunning {
			t.Fatalf("the run of an edge that is at another hub is %s", s.state())
		}
		s.hold(false) // that hub is gone
		pass(50 * time.Minute)
		if s.state() != run.StateRunning {
			t.Errorf("less than an hour after the end of the other hub the run is %s", s.state())
		}
		pass(11 * time.Minute)
		if s.state() != run.StateInterrupted {
			t.Errorf("after an absence of more than an hour the run is %s", s.state())
		}
	})
}

// An edge whose run was given up comes back, starts another one, and is gone again before anybody has looked.
func TestARunThatBeganSinceTheLastLookHasAnAbsenceOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &oneRun{}
		watched(t, s)
		for s.state() == run.StateRunning {
			pass(time.Second)
		}
		s.begin()
		pass(10 * time.Second)
		if s.state() != run.StateRunning {
			t.Errorf("a run whose edge was away for ten seconds is %s", s.state())
		}
		pass(time.Hour)
		if s.state() != run.StateInterrupted {
			t.Errorf("after more than an hour the run is %s", s.state())
		}
	})
}

func TestAnEdgeThatWasRemovedHasItsRunsInterruptedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &oneRun{online: true}
		watched(t, s)
		pass(time.Minute)
		s.revoke()
		pass(2 * time.Second)
		if s.state() != run.StateRunning {
			t.Fatalf("while the edge says its last words the run is %s", s.state())
		}
		s.arrive(false)
		pass(2 * time.Second)
		if s.state() != run.StateInterrupted {
			t.Errorf("a run that nobody will ever report on is %s", s.state())
		}
	})
}

// pass lets time go by in the bubble.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// observer is a Watch over one run whose edge is away, with clocks that the test moves.
type observer struct {
	t        *testing.T
	s        *oneRun
	w        *Watch
	at, wall time.Time
}

func newObserver(t *testing.T, after time.Duration) *observer {
	t.Helper()
	s := &oneRun{run: Run{ID: id.NewRun(), Edge: id.NewEdge(), State: run.StateRunning}}
	services := New(Config{
		Store: s, Edges: s, Presence: s, Signer: &Signer{}, Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("hub"),
	})
	o := &observer{t: t, s: s, w: NewWatch(services.Runs, nil, after), at: time.Now(), wall: time.Now()}
	o.move(0, 0)
	return o
}

// move lets time go by on each clock without a look, then looks.
func (o *observer) move(monotonic, wall time.Duration) {
	o.t.Helper()
	o.at, o.wall = o.at.Add(monotonic), o.wall.Add(wall)
	if err := o.w.Look(o.t.Context(), o.at, o.wall); err != nil {
		o.t.Fatal(err)
	}
}

// watch looks every second for a while.
func (o *observer) watch(d time.Duration) {
	o.t.Helper()
	for ; d > 0; d -= time.Second {
		o.move(time.Second, time.Second)
	}
}

func TestAPauseOfThisProcessBeginsEveryObservationAnew(t *testing.T) {
	for what, c := range map[string]struct{ after, monotonic, wall time.Duration }{
		"the process was stopped for ten minutes":        {time.Minute, 10 * time.Minute, 10 * time.Minute},
		"the process was stopped for a moment":           {2 * time.Second, 4 * time.Second, 4 * time.Second},
		"the machine slept, and its monotonic clock too": {time.Minute, time.Second, 8 * time.Hour},
		"the wall clock was set an hour forward":         {time.Minute, time.Second, time.Hour},
		"the wall clock was set an hour back":            {time.Minute, time.Second, -time.Hour},
		"the machine slept, and no clock had stopped":    {time.Minute, 8 * time.Hour, 8 * time.Hour},
		"the wall clock stood still":                     {time.Minute, 20 * time.Second, 0},
	} {
		t.Run(what, func(t *testing.T) {
			o := newObserver(t, c.after)
			o.watch(c.after - time.Second)
			o.move(c.monotonic, c.wall)
			o.watch(c.after - time.Second)
			if o.s.state() != run.StateRunning {
				t.Errorf("what nobody observed counted as absence: the run is %s", o.s.state())
			}
			o.watch(time.Second)
			if o.s.state() != run.StateInterrupted {
				t.Errorf("a whole absence was observed since, and the run is %s", o.s.state())
			}
		})
	}
}

func TestALookThatComesALittleLateForgetsNothing(t *testing.T) {
	o := newObserver(t, time.Minute)
	for range 20 {
		o.move(3*time.Second, 4*time.Second)
	}
	if o.s.state() != run.StateInterrupted {
		t.Errorf("after an observed absence of a minute the run is %s", o.s.state())
	}
}

func TestTheInterruptionSaysThatTheEdgeWasAbsent(t *testing.T) {
	entries, err := closer{}.ending(t.Context(), Run{}, nil, run.Interrupted(fault.EdgeAbsent))
	if err != nil || len(entries) != 1 || entries[0].Type != event.RunInterrupted ||
		string(entries[0].Body.Payload) != `{"reason_code":"edge_absent"}` {
		t.Errorf("got %+v, %v", entries, err)
	}
}
