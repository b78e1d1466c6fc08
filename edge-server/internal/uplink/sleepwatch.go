package uplink

import "time"

// sleepWatch notices that the machine or the process stood still: a tick came late, or wall and monotonic clock went apart.
type sleepWatch struct {
	ticker *time.Ticker
	last   time.Time
}

const (
	watchEvery = time.Second
	maxJump    = 5 * time.Second
)

func newSleepWatch() *sleepWatch {
	return &sleepWatch{ticker: time.NewTicker(watchEvery), last: time.Now()}
}

func (w *sleepWatch) tick() <-chan time.Time { return w.ticker.C }

func (w *sleepWatch) stop() { w.ticker.Stop() }

// slept is called at each tick.
func (w *sleepWatch) slept() bool {
	now := time.Now()
	steady := now.Sub(w.last)
	wall := now.Round(0).Sub(w.last.Round(0)) // Round drops the monotonic reading
	w.last = now
	return jumped(steady, wall)
}

// jumped judges what the two clocks say about the time between two ticks.
func jumped(steady, wall time.Duration) bool {
	return steady > watchEvery+maxJump || (wall-steady).Abs() > maxJump
}
