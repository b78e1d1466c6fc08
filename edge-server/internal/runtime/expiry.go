package runtime

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// lastWord is how long an agent that does not read its stdin holds up its end at the turn limit.
const lastWord = 100 * time.Millisecond

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

// overdue closes the desk and says of what is open that nobody answered, nothing if it is closed already. An answer that is on its way stays the only one.
func (d *desk) overdue() (pending []id.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	for _, p := range d.prompts {
		if p.call != nil {
			continue // it ends with the process
		}
		if p.stage < sent {
			const message = "The time limit of the turn passed before anybody answered."
			d.reply(Answer{ID: p.ask, Kind: p.kind, Decision: event.NoAnswer, Message: message}, func() {})
		}
		if p.stage < written {
			pending = append(pending, p.request)
			p.stage = settled // not to be called delivered as well
		}
	}
	return pending
}
