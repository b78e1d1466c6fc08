package journal

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// Bounds of what may wait for the writer, and of a group.
const (
	maxWaiting      = 256       // entries of one run
	maxWaitingBytes = 512 << 10 // of one run; a single larger entry is let in when nothing else of its run waits
	turn            = 16        // entries that one run gets into a group before the next run's turn
	maxGroup        = 512       // entries
	maxGroupBytes   = 1 << 20
)

// entry is one thing that waits for the writer: a row, an effect on the other tables, or both. With neither it is a barrier.
type entry struct {
	origin Origin
	event  run.Candidate // Type is empty without a row. Payload: DeltaPayload while others may merge into it, else final bytes
	id     id.Event
	at     time.Time
	size   int
	blobs  []event.BlobRef             // named by the row
	effect func(tx *transaction) error // runs in the transaction of the row, before it; nil for none
	done   chan error                  // cap 1; nil when nobody waits
}

func (e *entry) hasRow() bool { return e.event.Type != "" }

// queue holds what waits, in order per run, and hands it out fairly between runs. It is guarded by Journal.mu.
type queue struct {
	records []*entry // entries without a run: they go first
	runs    map[id.Run]*backlog
	ring    []*backlog // those with something waiting, next one first
	waiting int        // entries in all
}

type backlog struct {
	run     id.Run
	entries []*entry
	bytes   int
}

func (q *queue) empty() bool { return len(q.records) == 0 && len(q.ring) == 0 }

// fits says whether the run may have one more entry of size waiting.
func (q *queue) fits(r id.Run, size int) bool {
	b := q.runs[r]
	return b == nil || len(b.entries) < maxWaiting && b.bytes+size <= maxWaitingBytes
}

// push adds e, or merges it into the last entry of its run if both are deltas of the same text (architecture 6.4): what piles up during a
// sync becomes one row. It says whether it merged.
func (q *queue) push(e *entry) (merged bool) {
	if e.origin.Scope.RunID == "" {
		q.records = append(q.records, e)
		q.waiting++
		return false
	}
	b := q.backlog(e.origin.Scope.RunID)
	if b.merge(e) {
		return true
	}
	b.entries = append(b.entries, e)
	b.bytes += e.size
	q.waiting++
	return false
}

func (q *queue) backlog(r id.Run) *backlog {
	b := q.runs[r]
	if b == nil {
		if q.runs == nil {
			q.runs = map[id.Run]*backlog{}
		}
		b = &backlog{run: r}
		q.runs[r] = b
		q.ring = append(q.ring, b)
	}
	return b
}

func (b *backlog) merge(e *entry) bool {
	if len(b.entries) == 0 || e.done != nil || e.effect != nil {
		return false
	}
	last := b.entries[len(b.entries)-1]
	if last.done != nil || last.effect != nil {
		return false
	}
	joined, ok := run.Merge(last.event, e.event)
	if ok {
		last.event = joined
		last.size += e.size
		b.bytes += e.size
	}
	return ok
}

// take removes and returns the next group: all records, then up to a turn of each run in rotation until the group is full.
func (q *queue) take() []*entry {
	group := q.records
	q.records = nil
	bytes := 0
	for len(q.ring) > 0 && len(group) < maxGroup && bytes < maxGroupBytes {
		b := q.ring[0]
		q.ring = q.ring[1:]
		n := 0
		for ; n < len(b.entries) && n < turn && bytes < maxGroupBytes; n++ {
			bytes += b.entries[n].size
			b.bytes -= b.entries[n].size
		}
		group = append(group, b.entries[:n]...)
		b.entries = b.entries[n:]
		if len(b.entries) > 0 {
			q.ring = append(q.ring, b)
		} else {
			delete(q.runs, b.run)
		}
	}
	q.waiting -= len(group)
	return group
}
