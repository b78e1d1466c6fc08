package runtime

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Takes says whether agents of a profile can be told something while they work. See admission.Profiles.
func (e *Executor) Takes(name string, what wire.ControlKind) bool {
	p, ok := e.opts.Profiles.Find(profile.Name(name))
	return what == wire.ControlApprovalMode || ok && p.Takes(string(what))
}

// Control takes something that the agent is told while it works. See admission.Process.
func (r *running) Control(o wire.ControlOrder) (deliver func(), err error) {
	switch {
	case o.What == wire.ControlApprovalMode:
		return func() { r.desk.change(o.Mode) }, nil
	case !r.takes(string(o.What)):
		return nil, fault.New(fault.UnsupportedByRuntime, "The agent cannot be told this while it works: the controls of its profile do not name %s.", o.What)
	case !r.desk.listens():
		return nil, fault.New(fault.TooLate, "The agent has said its last word.")
	}
	return func() { r.desk.tell(o) }, nil
}

// change has the person's mode answer from the next request on.
func (d *desk) change(mode wire.ApprovalMode) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules.mode = mode
}

// listens says whether the agent hears what it is told.
func (d *desk) listens() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.closed
}

// tell writes what the agent is told, behind the answers that it has got, unless it has come to its end meanwhile.
func (d *desk) tell(o wire.ControlOrder) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
	case !d.begun:
		d.early = append(d.early, o)
	default:
		d.write(o)
	}
}

// begin is where the agent has its turn: nothing comes before that on its stdin.
func (d *desk) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun = true
	for _, o := range d.early {
		d.write(o)
	}
	d.early = nil
}

// write tells the agent. Callers hold mu.
func (d *desk) write(o wire.ControlOrder) {
	if err := d.input.Send(d.dialogue.Control(o).Reply); err != nil {
		d.log.Warn("cannot tell the agent", "what", o.What, "error", err)
	}
}
