package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// device is a client that follows the rules of api/events.md, and the person in front of it.
type device struct {
	world  *world
	id     id.Device
	name   string
	byMark bool // keeps no cursor

	socket *socket
	seq    uint64 // of the last frame on this connection
	cursor string
	logs   map[id.Run][]id.Event // what it shows
	asked  []question            // that it was told of
	sent   int
	acts   []*act
}

type question struct {
	run     id.Run
	request id.Request
}

// act is something that a person did, and what they were told of it.
type act struct {
	what     string
	run      id.Run // of a start: what the hub said
	request  id.Request
	decision event.Decision
	done     bool
	refused  fault.Code
}

// welcome begins to listen: with a snapshot, unless everything that was missed follows.
func (d *device) welcome(s *socket, p delivery.Plan) {
	if !s.open {
		return
	}
	d.world.say(d.name, "is %s %s at %d on %s", p.Outcome, p.Reason, p.From, s.hub.name)
	if p.Outcome != delivery.Replayed {
		d.logs, d.asked = map[id.Run][]id.Event{}, nil
		for _, r := range d.world.store.runs {
			for _, e := range r.events {
				d.logs[r.ID] = append(d.logs[r.ID], e.ID)
			}
			for _, q := range r.prompts {
				d.asked = append(d.asked, question{r.ID, q.ID})
			}
		}
	}
	d.seq, d.cursor = 0, string(p.Cursor)
	if d.byMark {
		s.hub.marks.Move(d.world.owner, d.id, p.From)
	}
}

// hear applies a frame; one that is missing before it ends the connection.
func (d *device) hear(s *socket, data []byte) {
	var f frame
	if err := json.Unmarshal(data, &f); err != nil {
		d.world.fail("%s cannot read a frame: %v", d.name, err)
		return
	}
	if f.Seq != d.seq+1 {
		d.world.say(d.name, "misses frame %d", d.seq+1)
		s.breaks()
		return
	}
	d.seq = f.Seq
	var e told
	if f.Type == event.FrameAgentStream || f.Type == "notification.new" {
		if err := json.Unmarshal(f.Payload, &e); err != nil {
			d.world.fail("%s cannot read a %s: %v", d.name, f.Type, err)
		}
	}
	switch f.Type {
	case event.FrameAgentStream:
		d.show(e)
	case "notification.new":
		d.asked = append(d.asked, question{e.Run, e.Prompt})
	}
	if f.Cursor != "" {
		d.cursor = f.Cursor
	}
}

// show puts an event behind the others of its run.
func (d *device) show(e told) {
	log := d.logs[e.Run]
	switch have := runlog.EventSeq(len(log)); {
	case e.Seq <= have:
		if log[e.Seq-1] != e.ID {
			d.world.fail("%s was told another event %d of %s", d.name, e.Seq, name(d.world, e.Run))
		}
	case e.Seq > have+1:
		d.world.fail("%s was told event %d of %s after %d", d.name, e.Seq, name(d.world, e.Run), have)
	default:
		d.logs[e.Run] = append(log, e.ID)
	}
}

// act sends a request to some hub until it has been answered. Whatever is lost on the way, there or back, is sent again.
func (d *device) act(a *act, ask func(ctx context.Context, h *hub) error) {
	w := d.world
	d.acts = append(d.acts, a)
	var try func()
	again := func() { w.after(w.between(200*time.Millisecond, 2*time.Second), try) }
	try = func() {
		h := pick(w, w.hubs)
		if a.done {
			return
		}
		if !h.up || h.paused() || h.tasks >= 12 || w.rough && w.chance(5) {
			again()
			return
		}
		life, answered := h.life, false
		var err error
		h.do(func(ctx context.Context) { err = ask(ctx, h) }, func() {
			answered = true
			if w.rough && w.chance(10) {
				w.say(d.name, "does not hear how it went: %s", a.what)
				again()
				return
			}
			a.end(w, d, err, again)
		})
		var wait func()
		wait = func() { // a process that was killed says nothing at all
			switch {
			case answered || a.done:
			case h.life != life || !h.up:
				again()
			default:
				w.after(2*time.Second, wait)
			}
		}
		wait()
	}
	try()
}

func (a *act) end(w *world, d *device, err error, again func()) {
	var f *fault.Fault
	switch {
	case a.done:
	case err == nil:
		a.done = true
	case errors.As(err, &f):
		a.done, a.refused = true, f.Code
	default:
		again()
		return
	}
	w.say(d.name, "%s: done %s %s", a.what, a.refused, name(w, a.run))
}

// begin starts a run.
func (d *device) begin() {
	d.sent++
	key := fmt.Sprintf("%s/%d", d.name, d.sent)
	a := &act{what: "start " + key}
	d.act(a, func(ctx context.Context, h *hub) error {
		n, err := h.services.Dispatcher.Prepare(ctx, runlog.Request{
			Session: d.world.session, Agent: theAgent(d.world), Prompt: "work", RequestedBy: d.world.owner,
			TraceID: "0123456789abcdef0123456789abcdef",
		})
		if err != nil {
			return err
		}
		a.run, err = h.view.start(ctx, key, n)
		return err
	})
}

func theAgent(w *world) fleet.Agent {
	return fleet.Agent{ID: w.agent, Name: "agent", Owner: w.owner, Profile: "p", Runtime: "bridge"}
}

// stop cancels a run, or forces it to its end.
func (d *device) stop(force bool) {
	w := d.world
	if len(w.store.runs) == 0 {
		return
	}
	r := pick(w, w.store.runs)
	a := &act{what: fmt.Sprintf("stop %s, force=%t", name(w, r.ID), force), run: r.ID}
	d.act(a, func(ctx context.Context, h *hub) error {
		stop := h.services.Runs.Cancel
		if force {
			stop = h.services.Runs.Force
		}
		_, err := stop(ctx, r.ID, w.owner)
		return err
	})
}

// answer answers a question, as this person sees it.
func (d *device) answer(q question) {
	w := d.world
	decision := pick(w, []event.Decision{event.Allow, event.Allow, event.Deny})
	a := &act{what: fmt.Sprintf("%s %s", decision, name(w, q.request)), run: q.run, request: q.request, decision: decision}
	d.act(a, func(ctx context.Context, h *hub) error {
		_, err := h.prompts.Answer(ctx, account.Principal{User: w.owner, Device: d.id}, prompt.Reply{
			Run: q.run, Answer: wire.Answer{RequestID: q.request, Decision: decision},
		})
		return err
	})
}

// open returns the questions that it was told of and that wait.
func (d *device) open() (found []question) {
	for _, q := range d.asked {
		r := d.world.store.byRun[q.run]
		if p, ok := prompt.Find(r.prompts, q.request); ok && p.State == prompt.Pending {
			found = append(found, q)
		}
	}
	return found
}
