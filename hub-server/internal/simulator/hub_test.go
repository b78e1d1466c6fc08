package simulator

import (
	"context"
	"log/slog"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Timing of the world, short against the faults so that every deadline is met now and then.
const (
	beatEvery      = 5 * time.Second
	lookEvery      = 3 * time.Second
	pollEvery      = 4 * time.Second
	interruptAfter = 20 * time.Second
	promptTTL      = 30 * time.Second
	forgetAfter    = 10 * time.Second // an edge that another hub holds, without a word of it
)

// hub is a hub process. What it keeps in memory goes when it is killed.
type hub struct {
	world *world
	name  string

	up          bool
	life        int
	pausedUntil time.Time
	skew        time.Duration // of its wall clock
	tasks       int

	view     view
	services runlog.Services
	prompts  *prompt.Prompts
	expiry   *prompt.Expiry
	watch    *runlog.Watch
	tail     *delivery.Tail
	marks    *delivery.Marks
	planner  delivery.Planner
	looking  bool // the watch has a task
	tailing  bool // the tail has one
	tailMore bool
	tailBorn bool

	links     []*link
	sockets   []*socket
	elsewhere map[id.Edge]time.Time // edges that the other hub holds: when it said so
}

func (h *hub) boot() {
	w := h.world
	h.up, h.life, h.tasks = true, h.life+1, 0
	h.view = view{w.store, h}
	log := slog.New(slog.DiscardHandler)
	signer, err := runlog.NewSigner([]byte("a key that all hubs of a store share, of 32 bytes at least"))
	if err != nil {
		w.fail("make signer: %v", err)
	}
	h.services = runlog.New(runlog.Config{Store: h.view, Edges: h.view, Presence: h, Signer: signer, Log: log, Metrics: w.metrics})
	h.prompts = &prompt.Prompts{Store: h.view, Runs: h.services.Runs}
	h.expiry = &prompt.Expiry{Prompts: h.prompts, Timers: timers{h.view}, TTL: promptTTL, Log: log}
	h.watch = runlog.NewWatch(h.services.Runs, h.prompts, interruptAfter)
	epoch := func() wire.Epoch { return w.store.epoch }
	h.tail = delivery.NewTail(delivery.Config{
		Log: log, Metrics: w.metrics, Outbox: h.view, Expand: h.view, Epoch: epoch, QueueBytes: 1 << 10,
	})
	h.marks = delivery.NewMarks(log, h.view, epoch)
	h.planner = delivery.Planner{Outbox: h.view, Marks: h.marks}
	h.looking, h.tailing, h.tailMore, h.tailBorn = false, false, false, false
	h.links, h.sockets, h.elsewhere = nil, nil, map[id.Edge]time.Time{}
	w.say(h.name, "starts")
	h.pokeTail()
	h.keepTime()
}

// keepTime does what a hub does by the clock.
func (h *hub) keepTime() {
	w := h.world
	h.routine(w.every, pollEvery, h.pokeTail)
	h.routine(w.inStep, lookEvery, func() {
		if h.looking {
			return
		}
		h.looking = true
		h.do(func(ctx context.Context) { h.watch.Look(ctx, w.now, h.view.now()) }, func() { h.looking = false }) //nolint:errcheck // looked again soon
		h.do(func(ctx context.Context) { h.expiry.Sweep(ctx, h.view.now()) }, nil)                               //nolint:errcheck // likewise
		h.do(func(ctx context.Context) { h.marks.Flush(ctx) }, nil)                                              //nolint:errcheck // likewise
	})
	h.routine(w.every, beatEvery, func() {
		for _, l := range h.links {
			l.beat()
		}
		for _, s := range h.sockets {
			s.beat()
		}
		h.announce()
	})
}

// routine does something at every period of this life of the process, unless it stands still or is behind.
func (h *hub) routine(every func(time.Duration, func() bool), period time.Duration, do func()) {
	life := h.life
	every(period, func() bool {
		if h.life != life || !h.up {
			return false
		}
		if !h.paused() && h.tasks < 12 {
			do()
		}
		return true
	})
}

func (h *hub) paused() bool { return h.pausedUntil.After(h.world.now) }

// Online implements fleet.Presence.
func (h *hub) Online(edge id.Edge) bool {
	for _, l := range h.links {
		if l.greeted && l.open && l.edge.id == edge {
			return true
		}
	}
	heard, ok := h.elsewhere[edge]
	return ok && h.world.now.Sub(heard) < forgetAfter
}

// announce tells the other hub which edges are held here.
func (h *hub) announce() {
	w := h.world
	if w.now.Before(w.apartUntil) {
		return
	}
	for _, l := range h.links {
		if !l.greeted {
			continue
		}
		edge := l.edge.id
		for _, other := range w.hubs {
			if other != h {
				w.carry(func() {
					if other.up {
						other.elsewhere[edge] = w.now
					}
				})
			}
		}
	}
}

// hint says something to every hub over the bus between them, which may lose it.
func (w *world) hint(say func(h *hub)) {
	for _, h := range w.hubs {
		w.carry(func() {
			if h.up && !h.paused() {
				say(h)
			}
		})
	}
}

// pokeTail lets the tail read on.
func (h *hub) pokeTail() {
	if h.tailing {
		h.tailMore = true
		return
	}
	h.tailing, h.tailMore = true, false
	more := false
	h.do(func(ctx context.Context) {
		step := h.tail.Step
		if !h.tailBorn {
			step = h.tail.Start
		}
		var err error
		if more, err = step(ctx); err == nil {
			h.tailBorn = true
		}
	}, func() {
		h.tailing = false
		if more || h.tailMore {
			h.pokeTail()
		}
	})
}

func (h *hub) pokeLane(edge id.Edge) {
	for _, l := range h.links {
		if l.edge.id == edge {
			l.hear(poke{})
		}
	}
}

// kill ends the process at whatever it is doing. Whoever is connected finds out sooner or later.
func (h *hub) kill() {
	if !h.up {
		return
	}
	w := h.world
	w.done.kills++
	w.say(h.name, "is killed")
	h.up, h.pausedUntil = false, time.Time{}
	w.killTasks(h)
	for _, l := range h.links {
		l.breaks()
	}
	for _, s := range h.sockets {
		s.breaks()
	}
	h.links, h.sockets = nil, nil
}
