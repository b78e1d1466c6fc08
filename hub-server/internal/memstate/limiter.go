package memstate

import (
	"context"
	"sync"
	"time"
)

// maxBuckets bounds the memory of a Limiter: some 10 MiB of keys.
const maxBuckets = 100_000

// Limiter keeps token buckets in memory: limits of one hub process. Safe for concurrent use.
type Limiter struct {
	mu      sync.Mutex
	buckets map[string]bucket
}

// bucket was at level at a time; it has filled up since.
type bucket struct {
	level float64
	at    time.Time // monotonic
	full  time.Time // when it will be as if it had never been used
}

// NewLimiter returns a limiter with all buckets full.
func NewLimiter() *Limiter { return &Limiter{buckets: map[string]bucket{}} }

// Take takes one token from the bucket of key, which holds burst tokens and gets perSecond new ones. It returns 0, or how long to wait
// for the next token when there is none. A bucket is always used with the same numbers. The error is for limiters elsewhere.
func (l *Limiter) Take(_ context.Context, key string, perSecond float64, burst int) (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	b, used := l.buckets[key]
	level := float64(burst)
	if used {
		level = min(level, b.level+now.Sub(b.at).Seconds()*perSecond)
	}
	if level < 1 {
		return seconds((1 - level) / perSecond), nil
	}
	if !used && len(l.buckets) >= maxBuckets {
		l.sweep(now)
	}
	level--
	l.buckets[key] = bucket{level: level, at: now, full: now.Add(seconds((float64(burst) - level) / perSecond))}
	return 0, nil
}

// sweep forgets buckets that are full again. When none is, it forgets some that are not: a flood of keys must not fill the memory, and
// the worst that comes of it is that a few callers begin anew.
func (l *Limiter) sweep(now time.Time) {
	for key, b := range l.buckets {
		if now.After(b.full) {
			delete(l.buckets, key)
		}
	}
	for key := range l.buckets {
		if len(l.buckets) < maxBuckets*9/10 {
			return
		}
		delete(l.buckets, key)
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
