package uplink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	rows "github.com/switchyard-dev/switchyard/shared/lane"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// slow is everything behind and before a lane: a store that takes its time for a commit, and an edge that answers pings until it is gone.
// Methods that a test does not reach panic.
type slow struct {
	Bus
	Edges
	Lanes
	Runs
	takes time.Duration

	mu        sync.Mutex
	here      int
	gone      bool
	receive   func(subject.Subject, []byte)
	committed int // acknowledged to the edge
	standing  fleet.Edge
	asked     int // for the standing
}

func (s *slow) Standing(context.Context, id.Edge) (fleet.Edge, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked++; s.asked%2 == 1 {
		return fleet.Edge{}, errors.New("the store is away now and then")
	}
	return s.standing, nil
}

func (s *slow) Refuse(context.Context, id.Edge, fault.Code) error { return nil }

func (s *slow) Announce(context.Context, id.Edge, wire.Hello) error { return nil }
func (s *slow) Seen(context.Context, id.Edge) error                 { return nil }
func (s *slow) DispatchWaiting(context.Context, id.Edge) error      { return nil }
func (s *slow) Arrived(id.Edge)                                     { s.change(func() { s.here++ }) }
func (s *slow) Departed(id.Edge)                                    { s.change(func() { s.here-- }) }

func (s *slow) EdgeArrived(fleet.Arrival) { /* there is no other hub */ }
func (s *slow) EdgeDoubted(fleet.Doubt)   { /* there is no other hub */ }

func (s *slow) PendingCommands(context.Context, id.Edge) ([]wire.Command, error) { return nil, nil }

func (s *slow) Open(_ context.Context, edge id.Edge, h wire.Hello) (runlog.LaneState, error) {
	return runlog.LaneState{Edge: edge, Incarnation: h.Incarnation}, nil
}

func (s *slow) Commit(_ context.Context, f runlog.LaneFrame) (runlog.LaneResult, error) {
	<-time.After(s.takes)
	return runlog.LaneResult{Watermark: f.Last()}, nil
}

func (s *slow) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Publish is what the hub says to the edge.
func (s *slow) Publish(to subject.Subject, data []byte) error {
	s.mu.Lock()
	gone, receive := s.gone, s.receive
	if subject.VerbOf(string(to)) == subject.Committed {
		s.committed++
	}
	s.mu.Unlock()
	if subject.VerbOf(string(to)) == subject.Ping && !gone {
		receive(subject.Up(id.NewEdge(), id.NewConnection(), subject.Pong), data)
	}
	return nil
}

func (s *slow) say(v subject.Verb, data []byte) {
	s.receive(subject.Up(id.NewEdge(), id.NewConnection(), v), data)
}

// working runs a lane whose edge has said hello and sent a frame that the store takes long to commit. over gets why the lane has ended.
func working(t *testing.T, s *slow) (over <-chan error) {
	t.Helper()
	h := NewHandler(Deps{
		Log: slog.New(slog.DiscardHandler), Bus: s, Edges: s, Lanes: s, Runs: s, Presence: s, Others: s, Metrics: NewMetrics(telemetry.NewRegistry("test")),
	})
	l := newLane(h, id.NewEdge())
	ctx, stop := context.WithCancel(t.Context())
	s.receive = l.receive(ctx)
	ended := make(chan error, 1)
	var running sync.WaitGroup
	running.Go(func() { ended <- l.run(ctx) })
	running.Go(func() { l.pulse(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	s.say(subject.Hello, []byte(`{"protocol":1,"incarnation":"i","boot_nonce":"b"}`))
	s.say(subject.Frame, wire.Frame{Generation: 1, First: 1, Rows: [][]byte{[]byte(`{}`)}}.Append(nil))
	synctest.Wait()
	return ended
}

func TestAnEdgeIsNotAbsentWhileTheStoreIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{takes: 4 * rows.Silence}
		over := working(t, s)
		for range 12 {
			<-time.After(rows.Silence)
			select {
			case err := <-over:
				t.Fatalf("the lane has ended: %v", err)
			default:
			}
			s.change(func() {
				if s.here != 1 {
					t.Errorf("the edge is here %d times", s.here)
				}
			})
		}
		s.change(func() {
			if s.committed != 1 {
				t.Errorf("%d commits were acknowledged", s.committed)
			}
		})
	})
}

func TestAnEdgeThatIsGoneIsNoticedThoughTheStoreIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{takes: 4 * rows.Silence, gone: true}
		over := working(t, s)
		<-time.After(s.takes + beatEvery)
		synctest.Wait()
		select {
		case err := <-over:
			if !errors.Is(err, errSilent) {
				t.Errorf("the lane has ended: %v", err)
			}
		default:
			t.Error("nobody has noticed")
		}
		s.change(func() {
			if s.here != 0 {
				t.Errorf("the edge is here %d times", s.here)
			}
		})
	})
}

// No hub has said so, or its word was lost: the lane finds out by itself.
func TestAnEdgeThatWasRemovedOrRefusedUnnoticedIsFoundAtTheNextLook(t *testing.T) {
	for want, standing := range map[fault.Code]fleet.Edge{
		fault.EdgeRevoked: {RevokedAt: time.Unix(1, 0)}, fault.EdgeRefused: {Refused: fault.EdgeRefused}, "": {},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &slow{}
			over := working(t, s)
			s.change(func() { s.standing = standing })
			<-time.After(2*standEvery + farewellLimit + time.Second)
			select {
			case err := <-over:
				if want == "" || fault.CodeOf(err) != want {
					t.Errorf("%q: the lane has ended: %v", want, err)
				}
			default:
				if want != "" {
					t.Errorf("%q: nobody has noticed", want)
				}
			}
		})
	}
}

// Each who asks needs an answer to a ping of its own: what was asked before another one came says nothing about the time since.
func TestOnlyTheAnswerToThatVeryPingProvesLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{gone: true}
		l := newLane(NewHandler(Deps{Log: slog.New(slog.DiscardHandler), Bus: s, Metrics: NewMetrics(telemetry.NewRegistry("test"))}), id.NewEdge())
		s.receive = l.receive(t.Context())
		earlier := l.nextPing(nil)
		said := map[string]bool{}
		var asking sync.WaitGroup
		ask := func(who string) (nonce uint64) {
			asking.Go(func() {
				alive := l.answers(t.Context())
				s.change(func() { said[who] = alive })
			})
			synctest.Wait()
			return l.pings
		}
		first, _ := ask("first"), ask("second")
		for _, nonce := range []uint64{0, earlier, first} {
			s.say(subject.Pong, fmt.Appendf(nil, `{"nonce":%d}`, nonce))
		}
		asking.Wait()
		if !said["first"] || said["second"] {
			t.Errorf("alive, to those who asked: %v", said)
		}
		if len(l.probes) > 0 {
			t.Errorf("%d probes wait for ever", len(l.probes))
		}
	})
}
