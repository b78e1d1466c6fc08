package simulator

import (
	"encoding/json"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func (s *store) head() delivery.Position { return delivery.Position(len(s.outbox)) }

// heard is an agent going on with an answer.
func (w *world) heard(request id.Request) { w.effects[request]++ }

// atRest says whether there is nothing left to happen: every run has its end, every command its receipt, every row is committed, everybody who
// did something knows how it went, and every device has been told everything.
func (w *world) atRest() bool {
	for _, r := range w.store.runs {
		if !r.State.Ended() {
			return false
		}
	}
	for _, c := range w.store.commands {
		if c.state == "pending" || c.state == "sent" {
			return false
		}
	}
	for _, e := range w.edges {
		if l := w.store.lane(e.id, e.journal.incarnation); l == nil || l.watermark != e.journal.head() {
			return false
		}
	}
	for _, d := range w.devices {
		if slices.ContainsFunc(d.acts, func(a *act) bool { return !a.done }) || w.missing(d) != "" {
			return false
		}
	}
	return true
}

// missing says what a device does not know.
func (w *world) missing(d *device) string {
	for _, r := range w.store.runs {
		if len(d.logs[r.ID]) != len(r.events) {
			return name(w, r.ID)
		}
	}
	return ""
}

// examine compares everybody's knowledge in the end.
func (w *world) examine(whole bool) {
	if !whole {
		w.explain()
	}
	w.done.runs = len(w.store.runs)
	for _, e := range w.edges {
		w.done.rows += len(e.journal.rows)
		w.examineJournal(e)
	}
	for _, r := range w.store.runs {
		w.examineLog(r)
		w.examinePrompts(r)
	}
	for _, d := range w.devices {
		for _, a := range d.acts {
			w.examineAct(d, a)
		}
	}
	for runID, n := range w.starts {
		if n > 1 {
			w.fail("%d processes were started for %s", n, name(w, runID))
		}
	}
}

// explain says what is still open long after everything is well again.
func (w *world) explain() {
	for _, r := range w.store.runs {
		if !r.State.Ended() {
			w.fail("%s is %s for ever (process ended: %t)", name(w, r.ID), r.State, r.ProcessEnded)
		}
	}
	for _, c := range w.store.commands {
		if c.state == "pending" || c.state == "sent" {
			w.fail("a %s of %s is %s for ever", c.Kind, name(w, c.RunID), c.state)
		}
	}
	for _, d := range w.devices {
		if missing := w.missing(d); missing != "" {
			w.fail("%s never learns all of %s", d.name, missing)
		}
		for _, a := range d.acts {
			if !a.done {
				w.fail("%s never learns what became of: %s", d.name, a.what)
			}
		}
	}
}

// examineJournal holds the record to what the edge wrote down: each row is there once, in order, and nothing else of it.
func (w *world) examineJournal(e *edge) {
	committed := map[id.Event]int{}
	for _, r := range w.store.runs {
		last := wire.ProducerSeq(0)
		for _, ev := range r.events {
			if ev.ProducerSeq == 0 || r.Edge != e.id {
				continue
			}
			committed[ev.ID]++
			if ev.ProducerSeq <= last {
				w.fail("rows of %s are out of order in %s", e.name, name(w, r.ID))
			}
			last = ev.ProducerSeq
		}
	}
	for i, row := range e.journal.ids {
		seq := laneSeq{e.journal.incarnation, wire.ProducerSeq(i + 1)}
		if committed[row] != 1 || w.store.applied[seq] != 1 {
			w.fail("row %d of %s is in the record %d times and was applied %d times", i+1, e.name, committed[row], w.store.applied[seq])
		}
	}
	if l := w.store.lane(e.id, e.journal.incarnation); l != nil && len(committed) != len(e.journal.ids) {
		w.fail("the record has %d rows of %s, which wrote %d", len(committed), e.name, len(e.journal.ids))
	}
}

// examineLog holds a log to what readers rely on.
func (w *world) examineLog(r *runRecord) {
	state := run.StateDispatched
	outcome := false
	for i, e := range r.events {
		if e.Seq != runlog.EventSeq(i+1) || e.Late != outcome {
			w.fail("event %d of %s has number %d, late=%t", i+1, name(w, r.ID), e.Seq, e.Late)
		}
		if e.Type.Terminal() {
			outcome = true
			state = run.State(e.Type[len("run."):])
		}
	}
	if n := r.terminals(); n != 1 {
		w.fail("%s has %d outcomes", name(w, r.ID), n)
	}
	if outcome && r.State != state {
		w.fail("%s is %s and its log says %s", name(w, r.ID), r.State, state)
	}
}

// examinePrompts holds each question to one end and each answer to one effect.
func (w *world) examinePrompts(r *runRecord) {
	for _, p := range r.prompts {
		settled := r.settledBy(p.ID)
		if len(settled) > 1 {
			w.fail("%s was settled %d times", name(w, p.ID), len(settled))
		}
		if p.State == prompt.Pending {
			w.fail("%s of a run that is over is pending", name(w, p.ID))
		}
		heard, taken := w.effects[p.ID], w.takenBack(r, p)
		delivered := p.Answer != nil && !p.Answer.DeliveredAt.IsZero()
		switch {
		case heard+taken > 1:
			w.fail("the answer to %s had %d effects: heard %d times, taken back %d times", name(w, p.ID), heard+taken, heard, taken)
		case delivered && heard == 0:
			w.fail("the answer to %s is said to be delivered, and no agent went on with it", name(w, p.ID))
		case p.State == prompt.Answered && heard+taken == 0 && r.State != run.StateCancelled && r.State != run.StateInterrupted:
			w.fail("the answer to %s had no effect, and its run is %s", name(w, p.ID), r.State)
		}
	}
}

// takenBack counts the runs that take the answer to a question back to the agent.
func (w *world) takenBack(r *runRecord, p prompt.Prompt) (n int) {
	for _, next := range w.store.runs {
		if next.Continues != r.ID || p.State != prompt.Answered || !p.Outlived {
			continue
		}
		var order wire.Dispatch
		if err := json.Unmarshal(next.Dispatch, &order); err != nil || order.Continues == nil {
			w.fail("%s continues %s and does not say so", name(w, next.ID), name(w, r.ID))
			continue
		}
		granted := slices.ContainsFunc(order.Continues.Grants, func(g wire.Grant) bool { return g.RequestID == p.ID })
		if granted || p.Answer.Decision == event.Deny {
			n++
		}
	}
	return n
}

// examineAct holds what somebody was told to what is.
func (w *world) examineAct(d *device, a *act) {
	if !a.done || a.run == "" {
		return
	}
	r, ok := w.store.byRun[a.run]
	switch {
	case !ok:
		w.fail("%s was told that a run began that is not there: %s", d.name, a.what)
	case a.request != "" && a.refused == "":
		p, _ := prompt.Find(r.prompts, a.request)
		if p.Answer == nil || p.Answer.Decision != a.decision {
			w.fail("%s was told that its answer counts, and it does not: %s", d.name, a.what)
		}
	case a.request != "" && a.refused == fault.Internal:
		w.fail("%s got an internal error: %s", d.name, a.what)
	}
}
