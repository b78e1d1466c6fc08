package simulator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// beginning is when every story begins: the clock of a synctest bubble.
var beginning = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	troubleFor = 22 * time.Second // virtual
	healsIn    = 6 * time.Minute  // at most
	apartEvery = 10               // stories there is one in which the bus between hubs is gone
	apartFor   = 2 * time.Minute
)

// tell plays the story of a seed and returns it when it is over.
func tell(t *testing.T, seed uint64, broken sabotage) (w *world) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		w = newWorld(seed, broken)
		w.rough = true
		w.trouble()
		w.play(troubleFor, func() bool { return false })
		w.heal()
		if whole := w.play(healsIn, w.atRest); len(w.wrong) == 0 {
			w.examine(whole)
		}
		w.end()
	})
	return w
}

func newWorld(seed uint64, broken sabotage) *world {
	w := &world{
		rng: rand.New(rand.NewPCG(seed, 1)), now: time.Now(), broken: broken, trace: trace{names: map[string]string{}},
		owner: id.NewUser(), session: id.NewSession(), agent: id.NewAgent(), starts: map[id.Run]int{}, effects: map[id.Request]int{}, metrics: telemetry.NewRegistry("sim"),
	}
	w.store = newStore(w)
	if seed%apartEvery == 0 {
		w.apartUntil = w.now.Add(apartFor)
	}
	for i := range 2 {
		h := &hub{world: w, name: fmt.Sprintf("hub%d", i), skew: w.between(-time.Hour, time.Hour)}
		w.hubs = append(w.hubs, h)
		h.boot()
	}
	for i := range 2 {
		e := &edge{
			world: w, id: id.NewEdge(), name: fmt.Sprintf("edge%d", i), skew: w.between(-time.Hour, time.Hour),
			journal: &journal{incarnation: wire.Incarnation(fmt.Sprintf("%016x", i+1)), receipts: map[id.Delivery]wire.CommandReceipt{}},
		}
		w.store.edges = append(w.store.edges, fleet.Edge{ID: e.id, Name: e.name, Owner: w.owner, Profiles: profiles()})
		w.edges, w.trace.names[string(e.id)] = append(w.edges, e), e.name
		e.start()
	}
	for i := range 3 {
		d := &device{world: w, id: id.NewDevice(), name: fmt.Sprintf("device%d", i), byMark: i == 2, logs: map[id.Run][]id.Event{}}
		w.devices = append(w.devices, d)
		d.dial()
	}
	w.devices[0].begin()
	return w
}

// trouble is what people do and what goes wrong, each at its own random times.
func (w *world) trouble() {
	during := func(mean time.Duration, do func()) {
		var again func()
		again = func() {
			if w.rough {
				do()
				w.after(w.between(mean/4, mean*7/4), again)
			}
		}
		w.after(w.between(0, mean), again)
	}
	someone := func() *device { return pick(w, w.devices) }
	during(7*time.Second, func() { someone().begin() })
	during(18*time.Second, func() { someone().stop(false) })
	during(25*time.Second, func() { someone().stop(true) })
	during(4*time.Second, func() {
		d := someone()
		if open := d.open(); len(open) > 0 {
			d.answer(pick(w, open))
		}
	})
	during(12*time.Second, w.answerAndKill)
	during(12*time.Second, w.killHub)
	during(9*time.Second, w.killEdge)
	during(9*time.Second, w.pauseHub)
	during(12*time.Second, w.pauseEdge)
	during(5*time.Second, w.cutLink)
	during(6*time.Second, w.cutSocket)
	during(12*time.Second, w.jump)
	during(15*time.Second, w.trim)
}

// answerAndKill ends the edge at the moment at which an answer is on its way to its agent.
func (w *world) answerAndKill() {
	d := pick(w, w.devices)
	open := d.open()
	if len(open) == 0 {
		return
	}
	q := pick(w, open)
	d.answer(q)
	w.after(w.upTo(100*time.Millisecond), func() {
		for _, e := range w.edges {
			if e.id == w.store.byRun[q.run].Edge {
				w.killFor(e, w.between(200*time.Millisecond, 5*time.Second))
			}
		}
	})
}

func (w *world) killHub() {
	h := pick(w, w.hubs)
	h.kill()
	w.after(w.between(500*time.Millisecond, 5*time.Second), func() {
		if !h.up {
			h.boot()
		}
	})
}

func (w *world) killEdge() {
	away := w.between(200*time.Millisecond, 5*time.Second)
	if w.chance(10) {
		away = w.between(interruptAfter, 2*interruptAfter) // longer than its runs are waited for
	}
	w.killFor(pick(w, w.edges), away)
}

func (w *world) killFor(e *edge, away time.Duration) {
	e.kill()
	w.after(away, func() {
		if !e.up {
			e.start()
		}
	})
}

func (w *world) pauseHub() {
	h := pick(w, w.hubs)
	if h.up {
		h.pausedUntil = w.now.Add(w.upTo(18 * time.Second))
		w.done.pauses++
		w.say(h.name, "stands still")
	}
}

func (w *world) pauseEdge() {
	e := pick(w, w.edges)
	if e.up {
		e.pausedUntil = w.now.Add(w.upTo(18 * time.Second))
		w.done.pauses++
		w.say(e.name, "stands still")
	}
}

// cutLink ends a connection for both ends, or for neither to know.
func (w *world) cutLink() {
	l := pick(w, w.edges).link
	switch {
	case l == nil:
	case w.chance(40):
		w.say(l.edge.name, "is cut off, and nobody knows")
		w.done.cuts++
		l.mute = true
	default:
		w.done.cuts++
		l.close("cut")
	}
}

func (w *world) cutSocket() {
	if s := pick(w, w.devices).socket; s != nil {
		w.done.cuts++
		w.say(s.device.name, "is cut off")
		s.breaks()
	}
}

// jump moves a wall clock.
func (w *world) jump() {
	by := w.between(-time.Hour, time.Hour)
	if w.chance(50) {
		pick(w, w.hubs).skew = by
	} else {
		pick(w, w.edges).skew = by
	}
}

// trim removes old rows of the outbox, as far as every hub that runs has passed them.
func (w *world) trim() {
	passed := w.store.head()
	for _, h := range w.hubs {
		if h.up {
			passed = min(passed, h.tail.Position())
		}
		for _, s := range h.sockets {
			if s.stream != nil {
				passed = min(passed, s.stream.Position())
			}
		}
	}
	w.store.floor = max(w.store.floor, passed*3/4)
}

// heal ends the trouble: everything runs, the network carries, and the clocks stay as they are.
func (w *world) heal() {
	w.rough = false
	w.say("--", "heals")
	for _, h := range w.hubs {
		h.pausedUntil = w.now
		if !h.up {
			h.boot()
		}
	}
	for _, e := range w.edges {
		e.pausedUntil = w.now
		if !e.up {
			e.start()
		}
	}
	w.every(2*time.Second, func() bool {
		for _, d := range w.devices[:1] {
			for _, q := range d.open() {
				d.answer(q)
			}
		}
		return true
	})
}

// end lets every goroutine of the story come to its end.
func (w *world) end() {
	for _, h := range w.hubs {
		h.up = false
		w.killTasks(h)
	}
	w.settle()
	if left := slices.ContainsFunc(w.tasks, func(t *task) bool { return !t.done }); left {
		w.fail("a task is stuck")
	}
}
