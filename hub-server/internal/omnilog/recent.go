package omnilog

import "sync"

// recentBytes is how much of a conversation's end is kept for those who read it.
const recentBytes = 256 << 10

// recent is the last entries of a conversation: all of its readers at this hub read the same. Safe for concurrent use.
type recent struct {
	mu      sync.Mutex
	base    int64 // all entries behind it and up to head are here
	head    int64
	entries []Entry // not changed once they are here
	bytes   int
	drops   int // how often forget was called
}

// begin has nothing, at a place, and says whether the head has moved.
func (r *recent) begin(place int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if place <= r.head {
		return false
	}
	r.base, r.head, r.entries, r.bytes = place, place, nil, 0
	return true
}

// dropped is how often forget was called: whoever reads facts asks before.
func (r *recent) dropped() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.drops
}

// add takes the entries up to a place, and says whether the head has moved. Of entries that may not be as their facts are now, as forget was called, it takes the place
// alone.
func (r *recent) add(entries []Entry, upTo int64, drops int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if upTo <= r.head {
		return false
	}
	if r.drops != drops {
		r.base, r.head, r.entries, r.bytes = upTo, upTo, nil, 0
		return true
	}
	for _, e := range entries {
		if e.Place > r.head {
			r.entries, r.bytes = append(r.entries, e), r.bytes+e.bytes()
		}
	}
	r.head = upTo
	old := 0
	for ; r.bytes > recentBytes; old++ {
		r.bytes -= r.entries[old].bytes()
		r.base = r.entries[old].Place
	}
	if old > 0 {
		r.entries = append([]Entry(nil), r.entries[old:]...)
	}
	return true
}

// forget drops all of it: messages have changed of which it may tell.
func (r *recent) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.base, r.entries, r.bytes = r.head, nil, 0
	r.drops++
}

// after returns the entries behind a place, at least one and about so many bytes, and up to which place they are all; false if the first of them is not here.
func (r *recent) after(place int64, bytes int) (entries []Entry, upTo int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if place < r.base {
		return nil, 0, false
	}
	from := len(r.entries)
	for from > 0 && r.entries[from-1].Place > place {
		from--
	}
	to := from
	for room := bytes; to < len(r.entries) && (to == from || room > 0); to++ {
		room -= r.entries[to].bytes()
	}
	if to < len(r.entries) {
		return r.entries[from:to:to], r.entries[to-1].Place, true
	}
	return r.entries[from:to:to], max(r.head, place), true
}

// end is the place up to which the conversation is folded.
func (r *recent) end() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.head
}
