package simulator

import (
	"context"
	"errors"
	"slices"
	"time"
)

// task is one request that a hub works on: a goroutine that rests at each call of the store, where everything else may come in between, and goes
// on when its appointment comes. So two hubs interleave at exactly the places at which they share something, and a hub can be killed or paused
// at each of them.
type task struct {
	serial int
	hub    *hub
	resume chan bool // false: the process is gone
	rests  bool      // at a call of the store …
	booked bool      // … and the moment to go on is fixed
	done   bool
	then   func() // once it is done, unless the process is gone
}

type taskKey struct{}

// errKilled is what the last calls of a killed process get; nobody is left to read it.
var errKilled = errors.New("killed")

// do begins a task.
func (h *hub) do(work func(ctx context.Context), then func()) {
	w := h.world
	w.serial++
	t := &task{serial: w.serial, hub: h, resume: make(chan bool), then: then}
	ctx := context.WithValue(context.Background(), taskKey{}, t)
	w.tasks = append(w.tasks, t)
	h.tasks++
	w.wind()
	go func() {
		work(ctx)
		t.done = true
	}()
	w.settle()
}

// rest is called by the store. An error means that the process has been killed.
func rest(ctx context.Context) error {
	t := ctx.Value(taskKey{}).(*task)
	t.rests = true
	alive := <-t.resume
	if !alive {
		return errKilled
	}
	return nil
}

// tend books the tasks that have come to rest, ends those that are done, and wakes whoever has something to read.
func (w *world) tend() {
	for busy := true; busy; {
		busy = false
		for _, t := range w.tasks {
			switch {
			case t.done && t.then != nil:
				then := t.then
				t.then, busy = nil, true
				then()
			case t.rests && !t.booked:
				t.booked = true
				w.after(t.hub.thinks(), func() { w.goOn(t) })
			}
		}
		w.tasks = slices.DeleteFunc(w.tasks, func(t *task) bool {
			if over := t.done && t.then == nil; !over {
				return false
			}
			t.hub.tasks--
			return true
		})
		for _, h := range w.hubs {
			busy = h.serveSockets() || busy
		}
	}
}

// thinks is how long a store call takes: sometimes very long.
func (h *hub) thinks() time.Duration {
	w := h.world
	if w.rough && w.chance(6) {
		return w.upTo(3 * time.Second)
	}
	return w.upTo(4 * time.Millisecond)
}

// goOn resumes a task, once its process is not paused any more.
func (w *world) goOn(t *task) {
	if t.done || t.hub == nil {
		return
	}
	if wait := t.hub.pausedUntil.Sub(w.now); wait > 0 {
		w.after(wait, func() { w.goOn(t) })
		return
	}
	t.rests, t.booked = false, false
	w.wind()
	t.resume <- true
	w.settle()
}

// killTasks ends all tasks of a hub where they are.
func (w *world) killTasks(h *hub) {
	for again := true; again; {
		again = false
		for _, t := range w.tasks {
			if t.hub != h || t.done || !t.rests {
				continue
			}
			again = true
			t.rests, t.then = false, nil
			t.resume <- false
			w.settle()
		}
	}
	for _, t := range w.tasks {
		if t.hub == h {
			t.then = nil
		}
	}
	w.tasks = slices.DeleteFunc(w.tasks, func(t *task) bool { return t.hub == h && t.done })
}
