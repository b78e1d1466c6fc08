package runtime

import (
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/redact"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// maxOpen bounds the prompts of one turn that wait for a person at once; a request beyond it is denied.
const maxOpen = 64

// errMoot says that the agent asks for something that nobody can answer any more.
var errMoot = errors.New("stdin of the agent has ended")

// desk is where the requests of one turn are decided and answered. Safe for concurrent use: answers come from elsewhere than requests. It
// never waits for a journal, so that a run which is held up there can still be stopped.
type desk struct {
	dialogue Dialogue
	input    *process.Input
	secrets  *redact.Redactor
	log      *slog.Logger

	mu      sync.Mutex
	rules   rules
	prompts []*prompt           // in the order of their requests
	closed  bool                // the agent takes no answers any more
	begun   bool                // it has its turn
	early   []wire.ControlOrder // what it is told before that, the oldest first
}

// newDesk returns the desk of a running agent.
func newDesk(r *running, rules rules) *desk {
	return &desk{dialogue: r.dialogue, input: r.input, secrets: r.secrets, log: r.log, rules: rules}
}

// reply writes the answer to a request to the agent; done is called once its pipe has taken it.
func (d *desk) reply(a Answer, done func()) {
	line := d.dialogue.Answer(a).Reply
	if len(line) == 0 {
		return
	}
	if err := d.input.SendThen(line, done); err != nil {
		d.log.Warn("cannot answer the agent", "error", err)
	}
}

// take finds the prompt that a person, or a client, has answered; from then on it takes no other answer. Errors are faults.
func (d *desk) take(a wire.Answer) (*prompt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.prompts {
		switch {
		case p.request != a.RequestID:
			continue
		case d.closed || p.stage != waiting:
			return nil, fault.New(fault.TooLate, "The agent does not wait for this answer any more.")
		case p.digest != a.Digest:
			return nil, fault.New(fault.DigestMismatch, "The answer is to something else than what the agent asked.")
		case !p.kind.Takes(a.Decision) && a.Decision != event.NoAnswer:
			return nil, fault.New(fault.InvalidRequest, "%.32q is no answer to a %s.", a.Decision, p.kind)
		}
		p.stage, p.decision = taken, a.Decision
		return p, nil
	}
	return nil, fault.New(fault.NotFound, "The agent has not asked this.")
}

// bring writes a person's answer to the agent, unless it has come to its end meanwhile.
func (d *desk) bring(p *prompt, a wire.Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	p.stage = sent
	d.reply(Answer{
		ID: p.ask, Kind: p.kind, Decision: a.Decision, UpdatedInput: a.UpdatedInput, Response: a.Response, Message: words(a),
	}, func() { d.wrote(p) })
}

// deliver says whether the agent still takes the answer to a call, which then is on its way.
func (d *desk) deliver(p *prompt) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	p.stage = sent
	return true
}

// words is what the agent is told beside the decision: a no needs a sentence.
func words(a wire.Answer) string {
	switch {
	case a.Reason != "":
		return a.Reason
	case a.Decision == event.NoAnswer:
		return event.NobodyAnswered
	case a.Decision == event.Deny:
		return event.DeniedByPerson
	}
	return ""
}

func (d *desk) wrote(p *prompt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.stage == sent {
		p.stage = written
	}
}

// moved is the agent going on: the answers that it had got are delivered.
func (d *desk) moved() []run.AgentEvent {
	d.mu.Lock()
	defer d.mu.Unlock()
	var delivered []run.AgentEvent
	for _, p := range d.prompts {
		if p.stage == written {
			p.stage = settled
			delivered = append(delivered, run.Delivered{
				PromptDeliveredPayload: event.PromptDeliveredPayload{RequestID: p.request, Decision: p.decision},
			})
		}
	}
	d.prompts = slices.DeleteFunc(d.prompts, func(p *prompt) bool { return p.call != nil && p.stage == settled })
	return delivered
}

// close makes everything moot that is still open: the agent has said its last word. It returns the prompts of which the agent is not known to
// have the answer, none when that word came earlier. A call of a client's tool is none of them: it ends with the process.
func (d *desk) close() (unheard []id.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	for _, p := range d.prompts {
		if p.stage < settled && p.call == nil {
			unheard = append(unheard, p.request)
		}
	}
	return unheard
}
