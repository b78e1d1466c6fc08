package presence

import (
	"maps"
	"slices"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Held counts the connections of people that this hub process holds. Safe for concurrent use.
type Held struct {
	changed chan struct{}

	mu     sync.Mutex
	people map[id.User]int
	moved  map[id.User]struct{} // who has come or gone since Moves
	number int64
}

// NewHeld returns an empty count.
func NewHeld() *Held {
	return &Held{changed: make(chan struct{}, 1), people: map[id.User]int{}, moved: map[id.User]struct{}{}}
}

// Arrived counts a connection that has begun.
func (h *Held) Arrived(u id.User) { h.count(u, +1) }

// Departed counts a connection that has ended.
func (h *Held) Departed(u id.User) { h.count(u, -1) }

// Changed has a value when somebody has come or gone since somebody took one. Any number of changes are one.
func (h *Held) Changed() <-chan struct{} { return h.changed }

// Moves returns who has come and who has gone since it was called last. Whoever did both is where they are now.
func (h *Held) Moves() (came, went []id.User) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for u := range h.moved {
		if h.people[u] > 0 {
			came = append(came, u)
		} else {
			went = append(went, u)
		}
	}
	clear(h.moved)
	return came, went
}

// People returns everybody of whom a connection is held, and a number that is another one after each change; the caller owns the slice.
func (h *Held) People() (people []id.User, number int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.AppendSeq(make([]id.User, 0, len(h.people)), maps.Keys(h.people)), h.number
}

// Number is that of People, without the people.
func (h *Held) Number() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.number
}

func (h *Held) count(u id.User, by int) {
	h.mu.Lock()
	was := h.people[u] > 0
	if h.people[u] += by; h.people[u] <= 0 {
		delete(h.people, u)
	}
	moved := was != (h.people[u] > 0)
	if moved {
		h.moved[u] = struct{}{}
		h.number++
	}
	h.mu.Unlock()
	if moved {
		signal(h.changed)
	}
}

// signal puts a value into a channel of one, if there is none.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // somebody is going to look anyway
	}
}
