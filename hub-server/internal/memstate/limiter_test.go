package memstate

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestABucketGivesItsBurstAndThenItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter()
		take := func() time.Duration {
			wait, err := l.Take(t.Context(), "ada", 2, 5)
			if err != nil {
				t.Fatal(err)
			}
			return wait
		}
		for i := range 5 {
			if wait := take(); wait != 0 {
				t.Fatalf("token %d of the burst: wait %s", i, wait)
			}
		}
		wait := take()
		if wait != 500*time.Millisecond {
			t.Fatalf("empty bucket: wait %s, want half a second", wait)
		}
		time.Sleep(wait - time.Millisecond)
		if take() == 0 {
			t.Fatal("a token before its time")
		}
		time.Sleep(2 * time.Millisecond)
		if wait := take(); wait != 0 {
			t.Fatalf("after waiting: wait %s", wait)
		}
		time.Sleep(time.Hour)
		given := 0
		for take() == 0 {
			given++
		}
		if given != 5 {
			t.Fatalf("%d tokens after an hour: a bucket must not overflow", given)
		}
		if wait, err := l.Take(t.Context(), "bob", 2, 5); wait != 0 || err != nil {
			t.Fatalf("another key: wait %s, %v", wait, err)
		}
	})
}

func TestAFloodOfKeysDoesNotFillTheMemory(t *testing.T) {
	l := NewLimiter()
	for i := range 250_000 {
		if wait, err := l.Take(t.Context(), fmt.Sprint("key ", i), 0.001, 1); wait != 0 || err != nil {
			t.Fatalf("key %d: wait %s, %v", i, wait, err)
		}
	}
	if n := len(l.buckets); n > maxBuckets {
		t.Fatalf("%d buckets are held", n)
	}
}
