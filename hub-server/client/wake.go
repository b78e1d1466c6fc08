package client

import (
	"context"
	"errors"
	"time"
)

const (
	wakeCheck = time.Second
	wakeGap   = 10 * time.Second
)

var (
	errSlept  = errors.New("this machine or process was asleep")
	errSilent = errors.New("the hub has been silent for too long")
)

// noticeSleep returns true once the wall clock has jumped ahead: the lid was closed, the machine paused, the process stopped. A
// connection that was open before may be dead without a sign of it, and a new one costs less than waiting to find out. It returns false
// at the end of ctx.
func noticeSleep(ctx context.Context, now func() time.Time) bool {
	tick := time.NewTicker(wakeCheck)
	defer tick.Stop()
	for last := now().Round(0); ; { // Round drops the monotonic reading, which stands still while a machine sleeps
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
			at := now().Round(0)
			if at.Sub(last) > wakeGap {
				return true
			}
			last = at
		}
	}
}
