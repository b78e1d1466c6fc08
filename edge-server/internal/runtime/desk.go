package runtime

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/redact"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	// maxOpen bounds the prompts of one turn that wait for a person at once; a request beyond it is denied.
	maxOpen = 64
	// lastWord is how long an agent that does not read its stdin holds up its end at the turn limit.
	lastWord = 100 * time.Millisecond
)

// errMoot says that the agent asks for something that nobody can answer any more.
var errMoot = errors.New("stdin of the agent has ended")

// stage is how far a prompt for a person has come.
type stage uint8

const (
	waiting stage = iota // nobody has answered
	taken                // a person has
	sent                 // the answer is on its way to the agent
	written              // the agent has it
	settled              // and went on with it
)

// prompt is a request that a person has to answer.
type prompt struct {
	request  id.Request
	ask      string // the agent's own id of it
	digest   string
	stage    stage
	decision event.Decision
}

// desk is where the requests of one turn are decided and answered. Safe for concurrent use: answers come from elsewhere than requests. It
// never waits for a journal, so that a run which is held up there can still be stopped.
type desk struct {
	dialogue Dialogue
	input    *process.Input
	secrets  *redact.Redactor
	log      *slog.Logger

	mu      sync.Mutex
	rules   rules
	prompts []*prompt // in the order of their requests
	closed  bool      // the agent takes no answers any more
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

// take finds the prompt that a person has answered; from then on it takes no other answer. Errors are faults.
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
	message := a.Reason
	if message == "" {
		message = "A person denied the request."
	}
	d.reply(Answer{ID: p.ask, Decision: a.Decision, UpdatedInput: a.UpdatedInput, Message: message}, func() { d.wrote(p) })
}

func (d *desk) wrote(p *prompt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p.stage = written
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
	return delivered
}

// close makes everything moot that is still open: the agent has said its last word.
func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}

// expire ends the waiting at the turn limit: the agent is told no where it has no answer, and its stdin ends (S4). It returns the prompts whose
// answer the agent had not got. For the person they stay open (R21).
func (d *desk) expire() (pending []id.Request) {
	pending = d.overdue()
	if len(pending) == 0 {
		return nil
	}
	d.input.Close()
	select {
	case <-d.input.Done():
	case <-time.After(lastWord):
	}
	return pending
}

// overdue closes the desk and denies what is open, nothing if it is closed already. An answer that is on its way stays the only one.
func (d *desk) overdue() (pending []id.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	for _, p := range d.prompts {
		if p.stage < sent {
			d.reply(Answer{ID: p.ask, Decision: event.Deny, Message: "The time limit of the turn passed before anybody answered."}, func() {})
		}
		if p.stage < written {
			pending = append(pending, p.request)
		}
	}
	return pending
}
