package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const profileName = "parrot"

// stage is an executor whose agents do what the test says: each start hands the test an actor.
type stage struct {
	failStart error
	actors    chan *actor

	mu      sync.Mutex
	starts  map[id.Run]int
	swept   []admission.Nonce
	unable  error         // what Sweep returns
	most    int           // limit of the profile
	changed chan struct{} // closed and replaced when most is another
}

func newStage() *stage {
	return &stage{actors: make(chan *actor, 64), starts: map[id.Run]int{}, changed: make(chan struct{})}
}

func (s *stage) Limit(profile string) (most int, offered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most, profile == profileName
}

// Takes says yes to a steer alone.
func (s *stage) Takes(profile string, what wire.ControlKind) bool {
	return profile == profileName && (what == wire.ControlSteer || what == wire.ControlApprovalMode)
}

func (s *stage) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// allow gives the profile another limit.
func (s *stage) allow(most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = most
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *stage) Start(_ context.Context, job admission.Job) (admission.Process, error) {
	s.mu.Lock()
	s.starts[job.Run]++
	s.mu.Unlock()
	if s.failStart != nil {
		return nil, s.failStart
	}
	a := &actor{job: job, lines: make(chan run.AgentEvent), exit: make(chan admission.Exit, 1), stopped: make(chan struct{}),
		answers: make(chan wire.Answer, 8), told: make(chan wire.ControlOrder, 512)}
	s.actors <- a
	return a, nil
}

func (s *stage) Sweep(_ context.Context, n admission.Nonce) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.swept = append(s.swept, n)
	return s.unable
}

func (s *stage) startsOf(r id.Run) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.starts[r]
}

// next waits for the next started agent.
func (s *stage) next(t *testing.T) *actor {
	t.Helper()
	select {
	case a := <-s.actors:
		return a
	case <-time.After(10 * time.Second):
		t.Fatal("no agent was started")
		return nil
	}
}

// actor is an agent in the hands of a test.
type actor struct {
	job     admission.Job
	lines   chan run.AgentEvent
	exit    chan admission.Exit // what Follow returns; after a stop {Gone: true} unless given
	stopped chan struct{}       // closed when the run asked it to stop
	refused error               // by emit
	answers chan wire.Answer    // that were delivered

	unwilling error // what it says to an answer, and to what it is told
	told      chan wire.ControlOrder
}

func (a *actor) PID() int        { return 4711 }
func (a *actor) WorkDir() string { return "/work" }

// Answer hands the answer to the test, which is the agent.
func (a *actor) Answer(answer wire.Answer) (func(), error) {
	if a.unwilling != nil {
		return nil, a.unwilling
	}
	return func() { a.answers <- answer }, nil
}

// Control hands the test what the agent is told.
func (a *actor) Control(o wire.ControlOrder) (func(), error) {
	if a.unwilling != nil {
		return nil, a.unwilling
	}
	return func() { a.told <- o }, nil
}

func (a *actor) Follow(ctx context.Context, emit func(run.AgentEvent) error) admission.Exit {
	for {
		select {
		case e := <-a.lines:
			if err := emit(e); err != nil {
				a.refused = err
			}
		case exit := <-a.exit:
			return exit
		case <-ctx.Done():
			close(a.stopped)
			return <-a.exit
		}
	}
}

// edge is an admission at work over a real journal.
type edge struct {
	*admission.Admission
	journal *journal.Journal
	stage   *stage
	stop    func() // stops admission, then the journal
}

func start(t *testing.T, home string, s *stage) *edge {
	t.Helper()
	return startWith(t, home, s, 64<<20)
}

// startWith starts an edge whose journal may hold limit bytes.
func startWith(t *testing.T, home string, s *stage, limit int64) *edge {
	t.Helper()
	registry := telemetry.NewRegistry("edge")
	log := slog.New(slog.DiscardHandler)
	j, err := journal.Open(context.Background(), journal.Options{Home: home, Cap: limit, Log: log, Metrics: registry})
	if err != nil {
		t.Fatal(err)
	}
	a := admission.New(admission.Options{
		Edge: id.NewEdge(), Journal: j, Executor: s, Profiles: s, Sweeper: s, Places: 2, Log: log, Metrics: registry,
	})
	writer, runs := supervise.NewGroup(context.Background()), supervise.NewGroup(context.Background())
	writer.Go(j.Run)
	runs.Go(a.Run)
	stop := sync.OnceFunc(func() {
		runs.Cancel()
		err := runs.Wait()
		writer.Cancel()
		if err := errors.Join(err, writer.Wait(), j.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	select {
	case <-a.Ready():
	case <-time.After(10 * time.Second):
		t.Fatal("admission is not ready")
	}
	return &edge{Admission: a, journal: j, stage: s, stop: stop}
}

// order is a start command for one conversation.
func order(session id.Session, agent id.Agent) wire.Command {
	r := id.NewRun()
	body, err := json.Marshal(wire.Dispatch{
		TaskID: r, SessionID: session, AgentID: agent, AgentName: "parrot", Profile: profileName, Prompt: "say it",
		TraceID: "0123456789abcdef0123456789abcdef",
	})
	if err != nil {
		panic(err)
	}
	return wire.Command{DeliveryID: id.NewDelivery(), Kind: wire.Start, RunID: r, Lease: 1, Body: body}
}

func newOrder() wire.Command { return order(id.NewSession(), id.NewAgent()) }

func cancelOf(c wire.Command) wire.Command {
	return wire.Command{DeliveryID: id.NewDelivery(), Kind: wire.Cancel, RunID: c.RunID, Lease: c.Lease, Body: json.RawMessage(`{}`)}
}

// receive sends a command and checks how it was received.
func (e *edge) receive(t *testing.T, c wire.Command, want wire.Status) wire.CommandReceipt {
	t.Helper()
	r, err := e.Receive(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != want || r.RunID != c.RunID || r.DeliveryID != c.DeliveryID {
		t.Fatalf("receipt is %+v, want status %s", r, want)
	}
	return r
}

// log waits for the last event of a run and returns the stored types of its events, with the payload of the last.
func (e *edge) log(t *testing.T, r id.Run) (types []event.Type, terminal string) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		grown := e.journal.Appended()
		events, err := e.journal.Events(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		types = types[:0]
		for _, ev := range events {
			types = append(types, event.Stored(ev.Type, ev.Payload))
		}
		if i := slices.IndexFunc(types, event.Type.LastOfEdge); i >= 0 {
			return types, string(events[i].Payload)
		}
		select {
		case <-grown:
		case <-deadline:
			t.Fatalf("run %s has no terminal: %v", r, types)
		}
	}
}

func (e *edge) expect(t *testing.T, r id.Run, terminal string, want ...event.Type) {
	t.Helper()
	types, payload := e.log(t, r)
	if !slices.Equal(types, want) {
		t.Errorf("log is %v, want %v", types, want)
	}
	if payload != terminal {
		t.Errorf("terminal is %s, want %s", payload, terminal)
	}
}
