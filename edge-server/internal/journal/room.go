package journal

import (
	"errors"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// ErrFull says that there was no room for an event and the caller would not wait any longer.
var ErrFull = errors.New("the journal is full")

// How full, in percent of the cap, before which behaviour sets in (architecture 6.6). The reserve for receipts, closings and terminals comes
// on top of the cap.
const (
	shedAt = 80
	busyAt = 95
	fullAt = 100
)

// Busy says whether new runs should be turned away because space runs low.
func (j *Journal) Busy() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.fullness() >= busyAt
}

// fullness is the percentage of the cap that is used; a disk that is full counts as 100. Callers hold mu.
func (j *Journal) fullness() int64 {
	if j.spent {
		return fullAt
	}
	return j.state.Used * 100 / j.opts.Cap
}

// hasRoom says whether an ordinary entry may wait for the writer. Callers hold mu.
func (j *Journal) hasRoom(e *entry) bool {
	return j.fullness() < fullAt && j.queue.fits(e.origin.Scope.RunID, e.size)
}

func (j *Journal) shed(t event.Type) bool {
	if !t.Droppable() {
		return false
	}
	j.mu.Lock()
	low := j.fullness() >= shedAt
	j.mu.Unlock()
	if low {
		j.metrics.shed.Inc()
	}
	return low
}

// makeRoom lets everybody who waits for room look again. Callers hold mu.
func (j *Journal) makeRoom() {
	close(j.room)
	j.room = make(chan struct{})
}
