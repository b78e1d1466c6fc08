package fanload

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// tally is what all subscribers together have got. Safe for concurrent use.
type tally struct {
	delivered atomic.Int64
	wakeAt    atomic.Int64 // how many delivered are waited for; 0: nobody waits
	wake      chan struct{}
	broken    chan struct{} // closed when a subscriber has failed: nothing is worth waiting for then
	since     atomic.Int64  // ages count of what was published from here, in Unix nanoseconds,
	till      atomic.Int64  // to before here
	ages      [shards]histogram
}

// shards keep subscribers from one another's counters.
const shards = 32

func newTally() *tally { return &tally{wake: make(chan struct{}, 1), broken: make(chan struct{})} }

// got counts deliveries.
func (t *tally) got(n int64) {
	now := t.delivered.Add(n)
	if at := t.wakeAt.Load(); at != 0 && now >= at && t.wakeAt.CompareAndSwap(at, 0) {
		t.wake <- struct{}{}
	}
}

// until waits until so many were delivered; false: not before the limit, or never.
func (t *tally) until(total int64, limit <-chan time.Time) bool {
	if t.delivered.Load() >= total {
		return true
	}
	t.wakeAt.Store(total)
	if t.delivered.Load() >= total && t.wakeAt.CompareAndSwap(total, 0) {
		return true
	}
	select {
	case <-t.wake:
		return true
	case <-t.broken:
	case <-limit:
	}
	if !t.wakeAt.CompareAndSwap(total, 0) {
		<-t.wake // it came at the same moment
		return true
	}
	return false
}

// age notes how old a delivery was, if it counts. who spreads subscribers.
func (t *tally) age(who int, at, now int64) {
	if at >= t.since.Load() && at < t.till.Load() {
		t.ages[who%shards].add(now - at)
	}
}

// restart forgets all ages and counts those of what is published from now on.
func (t *tally) restart() {
	t.pause()
	for i := range t.ages {
		for j := range t.ages[i] {
			t.ages[i][j].Store(0)
		}
	}
	t.since.Store(time.Now().UnixNano())
	t.till.Store(math.MaxInt64)
}

// pause leaves out what is published from now on.
func (t *tally) pause() { t.till.Store(time.Now().UnixNano()) }

// at returns a quantile of the ages.
func (t *tally) at(q float64) time.Duration {
	var all [buckets]int64
	total := int64(0)
	for i := range t.ages {
		for j := range t.ages[i] {
			n := t.ages[i][j].Load()
			all[j] += n
			total += n
		}
	}
	rank := int64(q * float64(total))
	for j, n := range all {
		if rank -= n; rank < 0 {
			return time.Duration(bound(j)) * time.Microsecond
		}
	}
	return 0
}

// histogram counts ages in buckets that are at most 1/32 wide of where they lie, in microseconds.
type histogram [buckets]atomic.Int64

const (
	fineBits = 5
	buckets  = 64 << fineBits
)

func (h *histogram) add(nanos int64) {
	h[bucket(max(0, nanos)/int64(time.Microsecond))].Add(1)
}

func bucket(micros int64) int {
	if micros < 1<<fineBits {
		return int(micros)
	}
	shift := bits.Len64(uint64(micros)) - fineBits - 1 //nolint:gosec // not negative
	return shift<<fineBits + int(micros>>shift)
}

// bound is the least number of a bucket.
func bound(bucket int) int64 {
	if bucket < 1<<(fineBits+1) {
		return int64(bucket)
	}
	shift := bucket>>fineBits - 1
	return int64(bucket-shift<<fineBits) << shift
}
