package gate

import "time"

// Rate is so many per second in the long run, and so many at once.
type Rate struct{ PerSecond, Burst float64 }

// Bucket is a token bucket. It is not safe for concurrent use.
type Bucket struct {
	perSecond, burst float64
	tokens           float64
	at               time.Time
}

// NewBucket returns a full one.
func NewBucket(r Rate) Bucket {
	return Bucket{perSecond: r.PerSecond, burst: r.Burst, tokens: r.Burst}
}

// Take takes a token; false if there is none.
func (b *Bucket) Take(now time.Time) bool { return b.Wait(now) == 0 }

// Wait takes a token and returns 0, or says in how long there will be one.
func (b *Bucket) Wait(now time.Time) time.Duration {
	if !b.at.IsZero() {
		b.tokens = min(b.burst, b.tokens+now.Sub(b.at).Seconds()*b.perSecond)
	}
	b.at = now
	if b.tokens < 1 {
		return max(1, time.Duration((1-b.tokens)/b.perSecond*float64(time.Second)))
	}
	b.tokens--
	return 0
}
