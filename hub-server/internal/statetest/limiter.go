// Package statetest is the contract of the volatile state of hubs, whichever package keeps it: presence, rate limits and signals. It is run over
// the one in memory and the one in Redis.
package statetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// patience is how long something may take that takes moments.
const patience = 20 * time.Second

// Limiter is a set of token buckets.
type Limiter interface {
	Take(ctx context.Context, key string, perSecond float64, burst int) (time.Duration, error)
}

// OnTheWallClock lets a test run as it is: for state that goes by the clock of another program. What goes by that of this one takes synctest.Test.
func OnTheWallClock(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	test(t)
}

// Limits tries that a limiter gives what it should. bubble runs each test; fresh returns a limiter with all buckets full.
func Limits(t *testing.T, bubble func(*testing.T, func(*testing.T)), fresh func(t *testing.T) Limiter) {
	t.Helper()
	for what, test := range map[string]func(*testing.T, Limiter){
		"a bucket gives its burst and then its rate":     burstAndRate,
		"a bucket does not overflow":                     noOverflow,
		"takers at once get as many tokens as there are": takersAtOnce,
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T) { test(t, fresh(t)) }) //nolint:thelper // the test itself
		})
	}
}

func take(t *testing.T, l Limiter, key string, perSecond float64, burst int) time.Duration {
	t.Helper()
	wait, err := l.Take(t.Context(), key, perSecond, burst)
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

func burstAndRate(t *testing.T, l Limiter) {
	const rate, burst = 0.5, 5 // a token in two seconds: nobody waits for one by accident
	for i := range burst {
		if wait := take(t, l, "ada", rate, burst); wait != 0 {
			t.Fatalf("token %d of the burst: wait %s", i, wait)
		}
	}
	wait := take(t, l, "ada", rate, burst)
	if wait <= 0 || wait > 2*time.Second {
		t.Fatalf("empty bucket: wait %s, want two seconds at most", wait)
	}
	if wait := take(t, l, "bob", rate, burst); wait != 0 {
		t.Fatalf("another key: wait %s", wait)
	}
	<-time.After(wait + 100*time.Millisecond) // who counts tokens in two places has heard of the last one a moment later in one of them
	if wait := take(t, l, "ada", rate, burst); wait != 0 {
		t.Fatalf("after waiting as told: wait %s", wait)
	}
	if wait := take(t, l, "ada", rate, burst); wait == 0 {
		t.Fatal("a second token after waiting for one")
	}
}

func noOverflow(t *testing.T, l Limiter) {
	const rate, burst = 200, 3
	take(t, l, "ada", rate, burst)
	<-time.After(time.Second) // in which 200 come
	given, begin := 0, time.Now()
	for take(t, l, "ada", rate, burst) == 0 {
		given++
	}
	if most := burst + int(time.Since(begin).Seconds()*rate) + 1; given < burst || given > most {
		t.Fatalf("%d tokens after a second, want %d to %d", given, burst, most)
	}
}

func takersAtOnce(t *testing.T, l Limiter) {
	const rate, burst, takers = 0.001, 50, 8
	var given atomic.Int64
	var all sync.WaitGroup
	for range takers {
		all.Go(func() {
			for range burst {
				if wait, err := l.Take(t.Context(), "crowd", rate, burst); err != nil {
					t.Error(err)
				} else if wait == 0 {
					given.Add(1)
				}
			}
		})
	}
	all.Wait()
	if n := given.Load(); n != burst {
		t.Errorf("%d takers got %d tokens of %d", takers, n, burst)
	}
}
