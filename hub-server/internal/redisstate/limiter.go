package redisstate

import (
	"context"
	_ "embed" // the script
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed take.lua
var takeSource string

// Buckets are the limits of this hub process alone.
type Buckets interface {
	// Take takes one token from the bucket of key, which holds burst tokens and gets perSecond new ones. It returns 0, or how long to wait.
	Take(ctx context.Context, key string, perSecond float64, burst int) (time.Duration, error)
}

// Limiter keeps token buckets in Redis: limits of all hub processes together. The bucket of this process is asked first, always: so it is as
// empty as it must be at the moment Redis is lost or wiped, and a flood costs Redis nothing. Safe for concurrent use.
type Limiter struct {
	link  *Link
	local Buckets
	take  *redis.Script
}

// NewLimiter returns a limiter over link, with local for the time that Redis is away.
func NewLimiter(link *Link, local Buckets) *Limiter {
	return &Limiter{link: link, local: local, take: redis.NewScript(takeSource)}
}

// Take takes one token from the bucket of key, which holds burst tokens and gets perSecond new ones. It returns 0, or how long to wait for the
// next token when there is none. A bucket is always used with the same numbers.
func (l *Limiter) Take(ctx context.Context, key string, perSecond float64, burst int) (wait time.Duration, err error) {
	if wait, err = l.local.Take(ctx, key, perSecond, burst); wait > 0 || err != nil {
		return wait, err
	}
	err = l.link.do(ctx, commandLimit, func(ctx context.Context) error {
		micros, err := l.take.Run(ctx, l.link.client, []string{l.link.keys.bucket(key)}, perSecond, burst).Int64()
		wait = time.Duration(micros) * time.Microsecond
		return err
	})
	if err != nil {
		l.link.metrics.local.Inc()
		return 0, nil //nolint:nilerr // the bucket of this process has given its token, and it decides while Redis is away
	}
	return wait, nil
}
