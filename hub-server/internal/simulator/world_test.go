// Package simulator plays a whole Switchyard in one goroutine at a time: two hubs over one store, edges with their agents, devices, and a network
// that loses, repeats, delays and reorders. Time is virtual and every choice comes from one seed, so the same seed is the same story, step by
// step, however loaded the machine is.
//
// What decides is the product itself: both ends of a lane (shared/lane), the normaliser (shared/run), the services of runlog, prompt and delivery,
// and with them the rules that a transaction applies. What is modelled is what has no rules of its own: a store that keeps what it is told to, a
// journal, agents that say their lines, clients. All of it is test code: no program contains it.
package simulator

import (
	"container/heap"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// world is one story.
type world struct {
	rng    *rand.Rand
	now    time.Time // virtual; whenever the product works, time.Now says the same
	agenda agenda
	order  uint64
	tasks  []*task
	serial int
	rough  bool // the network and the processes misbehave
	// until when hubs hear nothing of one another
	apartUntil time.Time
	broken     sabotage
	trace      trace
	wrong      []string // what must not be and was seen
	done       deeds

	metrics *telemetry.Registry

	owner   id.User
	session id.Session
	agent   id.Agent
	store   *store
	hubs    []*hub
	edges   []*edge
	devices []*device
	starts  map[id.Run]int     // processes that were started for a run
	effects map[id.Request]int // agents that went on with an answer
}

// deeds counts what was done to a world, and what came of it.
type deeds struct{ kills, pauses, cuts, messages, lost, doubled, rows, runs int }

// appointment is something to do at a time; those of one time are kept in the order in which they were made.
type appointment struct {
	at    time.Time
	order uint64
	do    func()
}

type agenda []appointment

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at.Before(a[j].at) || a[i].at.Equal(a[j].at) && a[i].order < a[j].order
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(appointment)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// after makes an appointment.
func (w *world) after(d time.Duration, do func()) {
	w.order++
	heap.Push(&w.agenda, appointment{w.now.Add(d), w.order, do})
}

// every does something again and again, from a random moment of the first period on, until it says that it is enough.
func (w *world) every(period time.Duration, do func() (more bool)) {
	w.everyFrom(w.upTo(period), period, do)
}

// inStep is every for what all processes do at the same moments: whatever they do then, they do against each other.
func (w *world) inStep(period time.Duration, do func() (more bool)) {
	w.everyFrom(period-w.now.Sub(beginning)%period, period, do)
}

func (w *world) everyFrom(first, period time.Duration, do func() (more bool)) {
	var again func()
	again = func() {
		if do() {
			w.after(period, again)
		}
	}
	w.after(first, again)
}

// play keeps appointments until over says so or the time is up; it says which.
func (w *world) play(limit time.Duration, over func() bool) bool {
	end := w.now.Add(limit)
	for len(w.agenda) > 0 && len(w.wrong) == 0 {
		if over() {
			return true
		}
		next := heap.Pop(&w.agenda).(appointment)
		if next.at.After(end) {
			heap.Push(&w.agenda, next)
			return false
		}
		w.now = next.at
		next.do()
		w.tend()
	}
	return false
}

// Choices.
func (w *world) chance(percent float64) bool              { return w.rng.Float64()*100 < percent }
func (w *world) upTo(d time.Duration) time.Duration       { return time.Duration(w.rng.Int64N(int64(d) + 1)) }
func (w *world) between(a, b time.Duration) time.Duration { return a + w.upTo(b-a) }

func pick[T any](w *world, from []T) T { return from[w.rng.IntN(len(from))] }

// fail notes that something happened that never may.
func (w *world) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.say("!!", "%s", text)
	w.wrong = append(w.wrong, text)
}

// trace is the story as text. Ids are random, so it names them in the order in which they turn up.
type trace struct {
	lines []string
	names map[string]string
	sum   uint64
}

// say adds a line.
func (w *world) say(who, format string, args ...any) {
	line := fmt.Sprintf("%9.3f %s ", w.now.Sub(beginning).Seconds(), who) + fmt.Sprintf(format, args...)
	w.trace.lines = append(w.trace.lines, line)
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", w.trace.sum, line)
	w.trace.sum = h.Sum64()
}

// name is what the trace calls an id.
func name[T ~string](w *world, id T) string {
	prefix, _, _ := strings.Cut(string(id), "_")
	if id == "" {
		return "-"
	}
	known, ok := w.trace.names[string(id)]
	if !ok {
		known = fmt.Sprintf("%s%d", prefix, len(w.trace.names))
		w.trace.names[string(id)] = known
	}
	return known
}

// wind sets the clock of the bubble: it moves when everybody in it waits.
func (w *world) wind() {
	if behind := time.Until(w.now); behind > 0 {
		<-time.After(behind)
	}
}

// settle lets every goroutine come to rest.
func (w *world) settle() { synctest.Wait() }
