package journal

import (
	"context"
	"time"
)

// While rows come without pause, the writer lets them gather for a moment before it takes the next group: a group costs a sync here, a frame
// on the wire, a transaction of the hub and a wake-up of everybody there, however few rows it has. The pause grows with the last group, so that
// a lone agent's words are never held up.
const (
	gatherPerEntry = time.Millisecond // of the last group
	maxGather      = 20 * time.Millisecond
	enough         = 128 // entries that need not wait for more
)

// gatherAfter is how long after the beginning of a group the next one begins, unless something presses.
func gatherAfter(entries int) time.Duration {
	return min(time.Duration(entries)*gatherPerEntry, maxGather)
}

// gather returns at a time, or as soon as waiting longer would hold somebody up.
func (j *Journal) gather(ctx context.Context, until time.Time) {
	pause := time.Until(until)
	if pause <= 0 {
		return
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-j.pressed:
	case <-ctx.Done():
	}
}

// press ends the gathering: somebody waits for an entry or for room, or there is enough. The lock is held.
func (j *Journal) press() {
	select {
	case j.pressed <- struct{}{}:
	default: // it has ended already
	}
}

// release lets what was taken press no more. The lock is held.
func (j *Journal) release() {
	select {
	case <-j.pressed:
	default:
	}
}
