package omni

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/play"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// stage is a hub, and an edge whose agent plays the parts that it is asked for.
type stage struct {
	*rig.Rig
	reader *rig.Device // of those who follow, and of the person who asks
	at     string      // the hub that they use
	seen   *rig.Recorder
	frames atomic.Pointer[overFrames] // of the audience at hand
}

// plenty lets one person do what a test does in a moment.
var plenty = []string{"HUB_REQUESTS_PER_MINUTE=100000", "HUB_SOCKETS_PER_MINUTE=100000"}

func newStage(t rig.TB) *stage {
	t.Helper()
	r := rig.New(t, rig.Options{Env: plenty, EdgeEnv: []string{"EDGE_PLACES=16"}})
	return newStageAt(r, r.HubURL())
}

// newWideStage is a stage whose edge is at one hub process, and its readers at another, with a bus between them.
func newWideStage(t *testing.T) *stage {
	t.Helper()
	bus := []string{"HUB_DATABASE_URL=" + hubtest.Postgres(t), "HUB_NATS_URL=" + startNATS(t), "HUB_REDIS_URL=" + hubtest.StartRedis(t).URL()}
	r := rig.New(t, rig.Options{Env: slices.Concat(plenty, bus)})
	return newStageAt(r, r.AddHub("second"))
}

// newStageAt has the readers use a hub of the rig.
func newStageAt(r *rig.Rig, hub string) *stage {
	r.T.Helper()
	s := &stage{Rig: r, at: hub}
	profile := rig.Profile("events", s.Program("testagent"), "--scenes") + "permission: true\nkill_grace_secs: 1\n"
	s.AddEdge("laptop", map[string]string{"player": profile})
	s.Owner().AgentID("player")
	s.reader = s.Device("reader", hub)
	s.seen = s.Device("frames", hub).WatchWith(func(f client.HubWebSocketFrame) {
		if o := s.frames.Load(); o != nil {
			o.take(f)
		}
	})
	s.seen.UntilConnected(1)
	return s
}

// startNATS starts a bus and returns its address.
func startNATS(t *testing.T) string {
	t.Helper()
	bus, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	bus.Start()
	t.Cleanup(func() {
		bus.Shutdown()
		bus.WaitForShutdown()
	})
	if !bus.ReadyForConnections(rig.Patience) {
		t.Fatal("the bus between hubs did not start")
	}
	return bus.ClientURL()
}

// judge is a test, or a draw of one.
type judge interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// audience is a conversation and four who follow it from its beginning, one over each protocol.
type audience struct {
	t       judge
	s       *stage
	session string
	runs    []id.Run
	parts   []string

	frames *overFrames
	cards  *overCards
	stream *overOmni
	runsOf *teller
	next   chan id.Run // for who follows run after run

	ctx       context.Context
	leave     context.CancelFunc
	following sync.WaitGroup
}

// newAudience opens a conversation in which so many parts will be played.
func (s *stage) newAudience(t judge, parts int) *audience {
	t.Helper()
	session := s.reader.Group("play", "player")
	a := &audience{
		t: t, s: s, session: session,
		frames: newOverFrames(session), cards: newOverCards(), stream: newOverOmni(), runsOf: newTeller(), next: make(chan id.Run, parts),
	}
	a.ctx, a.leave = context.WithTimeout(t.Context(), rig.Patience)
	s.frames.Store(a.frames)
	a.follow("S0", func() error {
		return a.cards.follow(a.ctx, s.reader.Cards(client.CardOptions{Session: a.session}), parts)
	})
	a.follow("S1", func() error {
		return a.stream.follow(a.ctx, s.reader, s.at, a.session, a.stream.over(parts))
	})
	a.follow("S2", func() error {
		for range parts {
			select {
			case run := <-a.next:
				if err := overCanonical(a.ctx, s.reader, s.at, run, a.runsOf); err != nil {
					return err
				}
			case <-a.ctx.Done():
				return a.ctx.Err()
			}
		}
		return nil
	})
	return a
}

func (a *audience) follow(who string, read func() error) {
	a.following.Go(func() {
		if err := read(); err != nil {
			a.t.Errorf("%s: %v", who, err)
		}
	})
}

// play asks for a part, answers what it asks, in turn, stops it where it waits for that, and returns when it is over.
func (a *audience) play(part play.Part, answers ...client.PromptDecision) {
	a.t.Helper()
	message := "@player " + part.String()
	run := a.s.reader.Run(a.session, message)
	a.runs, a.parts = append(a.runs, run), append(a.parts, message)
	a.next <- run
	for n, answer := range answers {
		a.answer(run, n+1, answer)
	}
	if words, waits := part.Waits(); waits {
		a.s.Eventually("the last act", func() bool { return a.frames.heard(words) })
		if _, err := client.Decode[client.AgentTask](a.s.reader.API().CancelAgentTask(a.ctx, string(run), client.CancelInput{})); err != nil {
			a.t.Fatalf("cancel: %v", err)
		}
	}
	a.s.seen.UntilSettled(run)
}

// answer waits for the n-th question of a run and answers it.
func (a *audience) answer(run id.Run, n int, decision client.PromptDecision) {
	a.t.Helper()
	var asked []client.Prompt
	a.s.Eventually("a question", func() bool {
		list, err := client.Decode[client.PromptList](a.s.reader.API().ListAgentTaskPrompts(a.ctx, string(run), &client.ListAgentTaskPromptsParams{}))
		asked = list.Items
		return err == nil && len(asked) >= n
	})
	waits := slices.IndexFunc(asked, func(p client.Prompt) bool { return p.State == client.PromptStatePending })
	if waits < 0 {
		a.t.Fatalf("no question waits: %+v", asked)
	}
	p := asked[waits]
	in := client.PromptAnswerInput{Decision: decision}
	if _, err := client.Decode[client.Prompt](a.s.reader.API().AnswerPrompt(a.ctx, p.TaskID, p.RequestID, in)); err != nil {
		a.t.Fatalf("answer: %v", err)
	}
}

// agree waits until all have seen the end, and holds what each was told to the log.
func (a *audience) agree() *tale {
	a.t.Helper()
	a.following.Wait()
	a.leave()
	log := newTeller()
	for _, run := range a.runs {
		log.begin("")
		for _, e := range a.s.reader.Log(run) {
			log.over(event.Type(e.EventType))
			if err := log.happened(event.Type(e.EventType), e.Payload); err != nil {
				a.t.Fatalf("read the log: %v", err)
			}
		}
	}
	want := log.String()
	framed, err := a.frames.tale()
	if err != nil {
		a.t.Errorf("S3: %v", err)
	}
	if err := a.stream.checker.End(); err != nil {
		a.t.Errorf("S1: %v", err)
	}
	for who, told := range map[string]*tale{"S0": &a.cards.tale, "S1": &a.stream.tale, "S2": &a.runsOf.tale, "S3": framed} {
		if got := told.String(); got != want {
			a.t.Errorf("%s tells another story than the log:\n%s", who, rig.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
		}
		for i, turn := range told.turns {
			if turn.asked != "" && i < len(a.parts) && turn.asked != a.parts[i] {
				a.t.Errorf("%s: turn %d was asked %q, want %q", who, i+1, turn.asked, a.parts[i])
			}
		}
	}
	return &log.tale
}
