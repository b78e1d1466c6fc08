package runtime

import (
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/redact"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// listener is a dialogue that counts what the agent is told.
type listener struct{ allowed, denied atomic.Int32 }

func (l *listener) Begin() Reaction                                  { return Reaction{} }
func (l *listener) Line([]byte) Reaction                             { return Reaction{} }
func (l *listener) End(End) (events []run.AgentEvent, o run.Outcome) { return nil, run.Completed() }
func (l *listener) Control(wire.ControlOrder) Reaction               { return Reaction{} }
func (l *listener) Answer(a Answer) Reaction {
	if a.Decision == event.Allow {
		l.allowed.Add(1)
	} else {
		l.denied.Add(1)
	}
	return Reaction{Reply: []byte("x\n")}
}

func deskOf(l *listener, policy func() profile.Policy) *desk {
	r := &running{
		dialogue: &serial{dialogue: l}, input: process.NewInput(), secrets: redact.New(nil), log: slog.New(slog.DiscardHandler),
	}
	return newDesk(r, rules{profile: func() profile.Profile { return profile.Profile{Policy: policy()} }})
}

func always(p profile.Policy) func() profile.Policy { return func() profile.Policy { return p } }

func mustOpen(t *testing.T, d *desk) event.PromptRequestedPayload {
	t.Helper()
	o, err := d.open(Ask{ID: "r1", Tool: "Bash", Input: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	return o.asked
}

// Several answers and the turn limit come at the same moment: the agent is told one thing, and what it was told is what counts.
func TestAnswersAndTheTurnLimitRaceForOneRequest(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			var l listener
			d := deskOf(&l, always(profile.Ask))
			p := mustOpen(t, d)
			var accepted atomic.Int32
			var pending int
			var racers sync.WaitGroup
			for range 3 {
				racers.Go(func() {
					taken, err := d.take(wire.Answer{RequestID: p.RequestID, Digest: p.Digest})
					if err == nil {
						accepted.Add(1)
						d.bring(taken, wire.Answer{Decision: event.Allow})
					}
				})
			}
			racers.Go(func() { pending = len(d.expire()) })
			racers.Wait()
			allowed, denied := l.allowed.Load(), l.denied.Load()
			if allowed+denied != 1 || accepted.Load() > 1 || allowed > accepted.Load() {
				t.Errorf("told yes %d times and no %d times, %d answers accepted", allowed, denied, accepted.Load())
			}
			if pending != 1 {
				t.Errorf("%d pending: nothing was written, since nobody reads", pending)
			}
			for _, p := range d.prompts {
				d.wrote(p)
			}
			if moved := d.moved(); len(moved) > 0 {
				t.Errorf("pending and delivered: %v", moved)
			}
		})
	}
}

func TestPolicyIsReadAnewForEachRequest(t *testing.T) {
	policy := profile.Ask
	d := deskOf(&listener{}, func() profile.Policy { return policy })
	for _, step := range []struct {
		policy profile.Policy
		want   event.Decider
	}{{profile.Ask, event.Person}, {profile.AllowAll, event.Policy}, {profile.DenyAll, event.Policy}, {"", event.Person}} {
		policy = step.policy
		if got := mustOpen(t, d).Asks; got != step.want {
			t.Errorf("%q asks %s", step.policy, got)
		}
	}
}

func TestAnswerIsDeliveredOnlyWhenItIsWrittenAndTheAgentMoves(t *testing.T) {
	d := deskOf(&listener{}, always(profile.Ask))
	p := mustOpen(t, d)
	taken, err := d.take(wire.Answer{RequestID: p.RequestID, Digest: p.Digest, Decision: event.Deny})
	if err != nil {
		t.Fatal(err)
	}
	d.bring(taken, wire.Answer{Decision: event.Deny})
	if moved := d.moved(); len(moved) > 0 {
		t.Errorf("delivered before it was written: %v", moved)
	}
	d.wrote(taken)
	want := run.Delivered{PromptDeliveredPayload: event.PromptDeliveredPayload{RequestID: p.RequestID, Decision: event.Deny}}
	if moved := d.moved(); len(moved) != 1 || moved[0] != want {
		t.Errorf("delivered %v", moved)
	}
	if moved := d.moved(); len(moved) > 0 {
		t.Errorf("delivered again: %v", moved)
	}
}
