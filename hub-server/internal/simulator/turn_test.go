package simulator

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const lostUnseen = event.EndedUnseen

// turnLimit is when a process is ended that still waits for a person.
const turnLimit = 25 * time.Second

// turn is a run on its edge, and the agent that works on it: it says its lines, and at some it waits for a person.
type turn struct {
	edge       *edge
	run        id.Run
	record     *admittedRun
	normaliser *run.Normaliser
	alive      bool // the process exists
	lines      int  // left to say
	questions  int  // left to ask
	asked      id.Request
	digest     string
	taken      bool // the question has its answer on the way
}

func (e *edge) restore(r *admittedRun) *turn {
	n, err := run.Restore(run.Options{}, r.events)
	if err != nil {
		e.world.fail("restore %s: %v", name(e.world, r.id), err)
	}
	return &turn{edge: e, run: r.id, record: r, normaliser: n}
}

// admit records a run and lets it wait for a place.
func (e *edge) admit(c wire.Command) {
	r := &admittedRun{id: c.RunID, start: c, lease: c.Lease}
	e.journal.runs = append(e.journal.runs, r)
	e.waiting = append(e.waiting, e.restore(r))
	e.soon(e.world.upTo(10*time.Millisecond), e.next)
}

// next starts what waits if there is a place: the intent is on disk before the process exists, and that it exists a moment later.
func (e *edge) next() {
	if len(e.running) >= places || len(e.waiting) == 0 {
		return
	}
	t := e.waiting[0]
	e.waiting = e.waiting[1:]
	e.running = append(e.running, t)
	t.record.phase = intended
	e.soon(e.world.upTo(20*time.Millisecond), func() {
		if t.over() {
			return
		}
		t.alive = true
		e.world.starts[t.run]++
		e.world.say(e.name, "spawns %s", name(e.world, t.run))
		e.soon(e.world.upTo(20*time.Millisecond), t.begin)
	})
	e.next()
}

func (t *turn) over() bool { return t.record.phase == ended }

func (t *turn) begin() {
	if t.over() {
		return
	}
	w := t.edge.world
	t.record.phase = started
	t.edge.append(t.record, t.normaliser.Start("/work", w.now.Add(t.edge.skew))...)
	t.lines, t.questions = 1+w.rng.IntN(5), []int{0, 0, 1, 1, 2}[w.rng.IntN(5)]
	t.soon()
}

// soon says the next line, unless the agent waits for a person then.
func (t *turn) soon() {
	t.edge.soon(t.edge.world.between(5*time.Millisecond, time.Second), func() {
		if t.alive && !t.over() && t.asked == "" {
			t.speak()
		}
	})
}

func (t *turn) speak() {
	w := t.edge.world
	if t.lines > 0 {
		t.lines--
		switch w.rng.IntN(4) {
		case 0:
			t.say(run.ToolCall{ID: fmt.Sprintf("c%d", t.lines), Name: "read", Args: json.RawMessage(`{}`)})
		case 1:
			t.say(run.ToolResult{Name: "read", Result: json.RawMessage(`1`)})
		default:
			t.say(run.Delta{Text: fmt.Sprintf("line %d. ", t.lines)})
		}
		t.soon()
		return
	}
	if t.questions > 0 {
		t.questions--
		t.ask()
		return
	}
	if w.chance(15) {
		t.say(run.Failure{ErrorObj: event.ErrorObj{Code: fault.AgentError, Message: "The agent failed."}})
		t.leave()
		return
	}
	t.say(run.Done{Answer: "done"})
	t.leave()
}

func (t *turn) say(e run.AgentEvent) { t.edge.append(t.record, t.normaliser.Step(e)...) }

// ask asks a person and waits; now and then with a limit of its own, and now and then the turn ends soon.
func (t *turn) ask() {
	w := t.edge.world
	input := json.RawMessage(fmt.Sprintf(`{"n":%d}`, w.rng.IntN(1000)))
	digest, err := event.PromptDigest("bash", input)
	if err != nil {
		w.fail("digest: %v", err)
	}
	t.asked, t.digest, t.taken = id.NewRequest(), digest, false
	p := event.PromptRequestedPayload{
		RequestID: t.asked, Kind: event.PromptPermission, ToolName: "bash", Input: input, Digest: digest, Asks: event.Person,
	}
	if w.chance(25) {
		p.TimeoutMS = w.between(time.Second, 10*time.Second).Milliseconds()
	}
	t.say(run.Asked{PromptRequestedPayload: p})
	limit := turnLimit
	if w.chance(25) {
		limit = w.upTo(8 * time.Second)
	}
	asked := t.asked
	t.edge.soon(limit, func() {
		if t.alive && !t.over() && t.asked == asked {
			t.close(t.cut(event.EndedWithEdge))
		}
	})
}

// take gives the question its one answer.
func (e *edge) take(c wire.Command) (do func(), why *fault.Fault) {
	var a wire.Answer
	if err := json.Unmarshal(c.Body, &a); err != nil || a.Check() != nil {
		return nil, fault.New(fault.InvalidRequest, "The answer cannot be read.")
	}
	i := slices.IndexFunc(e.running, func(t *turn) bool { return t.run == c.RunID && t.alive })
	switch {
	case i < 0 || e.running[i].asked != a.RequestID:
		return nil, fault.New(fault.NotFound, "The agent has not asked this.")
	case e.running[i].taken:
		return nil, fault.New(fault.TooLate, "The agent does not wait for this answer any more.")
	case e.running[i].digest != a.Digest:
		return nil, fault.New(fault.DigestMismatch, "The answer is to something else than what the agent asked.")
	}
	t := e.running[i]
	t.taken = true
	return func() { t.hear(a) }, nil
}

// hear is the answer on its way to the agent, and the agent going on with it: only then is it delivered.
func (t *turn) hear(a wire.Answer) {
	w := t.edge.world
	delivered := run.Delivered{PromptDeliveredPayload: event.PromptDeliveredPayload{RequestID: a.RequestID, Decision: a.Decision}}
	if w.broken == losesAnswers {
		t.say(delivered)
	}
	t.edge.soon(w.upTo(500*time.Millisecond), func() {
		if !t.alive || t.over() {
			return
		}
		w.heard(a.RequestID)
		t.asked = ""
		if w.broken != losesAnswers {
			t.say(delivered)
		}
		t.soon()
	})
}

// cancel stops a run, started or not.
func (e *edge) cancel(r *admittedRun) {
	r.cancelled = true
	if i := slices.IndexFunc(e.waiting, func(t *turn) bool { return t.record == r }); i >= 0 {
		t := e.waiting[i]
		e.waiting = slices.Delete(e.waiting, i, i+1)
		t.close(run.Cancelled(true))
		return
	}
	e.soon(e.world.upTo(time.Second), func() { // the grace period
		if i := slices.IndexFunc(e.running, func(t *turn) bool { return t.record == r }); i >= 0 && !e.running[i].over() {
			e.running[i].close(run.Cancelled(true))
		}
	})
}

// cut is the end of a process that somebody else ended: what it has asked people outlives it.
func (t *turn) cut(why event.EndReason) run.Outcome {
	if pending := t.normaliser.Unheard(); len(pending) > 0 {
		return run.ProcessEnded(why, pending)
	}
	return run.Interrupted(why.Code())
}

func (t *turn) close(o run.Outcome) {
	t.edge.append(t.record, t.normaliser.Close(o)...)
	t.leave()
}

// leave gives the place free.
func (t *turn) leave() {
	t.alive = false
	t.edge.running = slices.DeleteFunc(t.edge.running, func(other *turn) bool { return other == t })
	t.edge.soon(t.edge.world.upTo(10*time.Millisecond), t.edge.next)
}
