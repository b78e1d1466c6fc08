package fanload

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestABucketIsAtMostAThirtySecondWide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.Int64Range(0, math.MaxInt64/1000).Draw(t, "micros")
		least, next := bound(bucket(micros)), bound(bucket(micros)+1)
		if micros < least || micros >= next || (next-least)*32 > max(32, least) {
			t.Fatalf("%d lies in a bucket from %d to %d", micros, least, next)
		}
	})
}

func TestQuantilesAreThoseOfTheMeasuredSpan(t *testing.T) {
	tally := newTally()
	tally.age(0, time.Now().UnixNano(), time.Now().Add(time.Hour).UnixNano()) // before it began
	tally.restart()
	at := time.Now().UnixNano()
	for i := range int64(100) {
		tally.age(int(i), at, at+(i+1)*int64(time.Millisecond))
	}
	tally.pause()
	late := time.Now().UnixNano()
	tally.age(0, late, late+int64(time.Hour)) // after it ended
	for q, want := range map[float64]time.Duration{0.5: 51 * time.Millisecond, 0.99: 100 * time.Millisecond} {
		if got := tally.at(q); got > want || got < want*30/32 {
			t.Errorf("quantile %v is %v, want about %v", q, got, want)
		}
	}
}

func TestWaitingEndsWithTheLastDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tally := newTally()
		go func() {
			for range 10 {
				time.Sleep(time.Second) //nolint:forbidigo // in a bubble: the clock of this test
				tally.got(1)
			}
		}()
		start := time.Now()
		if !tally.until(7, time.After(time.Hour)) || time.Since(start) != 7*time.Second {
			t.Errorf("waited for %v", time.Since(start))
		}
		if tally.until(1000, time.After(time.Minute)) {
			t.Error("got what was never delivered")
		}
		close(tally.broken)
		if start := time.Now(); tally.until(1000, time.After(time.Hour)) || time.Since(start) > 0 {
			t.Error("waited though somebody had failed")
		}
	})
}
