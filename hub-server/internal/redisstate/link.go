// Package redisstate shares the volatile state of hub processes through Redis: which hub holds which edge, rate limits, and what hubs tell one
// another at once. Nothing durable is ever there: a Redis that is wiped is filled again within a second, and while there is none, each part goes
// by the twin in memory that it was given (promise P15).
package redisstate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

const (
	commandLimit = 200 * time.Millisecond // for one exchange; then Redis counts as away
	probeLimit   = time.Second            // for an exchange that nobody waits for
	probeEvery   = time.Second            // while it answers
	retryEvery   = 250 * time.Millisecond // while it does not
	poolSize     = 32
	minIdle      = 8              // connections that are kept ready: to make one takes longer than an exchange may
	lifeFor      = 24 * time.Hour // of what has no end of its own, once no hub renews it
)

// errAway is the answer of a link whose Redis does not answer.
var errAway = errors.New("redis is away")

// Link is a hub's connection to Redis, with a switch that opens at the first failure: from then on nobody waits for Redis until a probe has found
// it again. Safe for concurrent use.
type Link struct {
	client  *redis.Client
	keys    keys
	log     *slog.Logger
	metrics *metrics

	mu   sync.Mutex
	up   bool
	back chan struct{} // closed while up
	lost chan struct{} // has a value when Run should look
	life string        // names the contents: another one after they were lost
}

// NewLink returns a link to the Redis of address (HUB_REDIS_URL). It counts as away until Run has reached it. secret is the same on all hubs of a
// store and on no other: it keeps their keys apart, and names and addresses of people out of Redis.
func NewLink(address string, secret []byte, log *slog.Logger, registry *telemetry.Registry) (*Link, error) {
	options, err := parse(address)
	if err != nil {
		return nil, err
	}
	redis.SetLogger(silence{})
	return &Link{
		client: redis.NewClient(options), keys: newKeys(secret), log: log, metrics: newMetrics(registry),
		back: make(chan struct{}), lost: make(chan struct{}, 1),
	}, nil
}

// CheckURL says what is wrong with an address, without repeating it: it may contain a password.
func CheckURL(address string) error {
	_, err := parse(address)
	return err
}

func parse(address string) (*redis.Options, error) {
	options, err := redis.ParseURL(address)
	if err != nil {
		return nil, errors.New("want redis://user:password@host:port/number, or rediss:// for TLS")
	}
	if options.TLSConfig != nil && options.TLSConfig.InsecureSkipVerify {
		return nil, errors.New("skip_verify would let anybody answer as Redis: let this system trust its certificate instead")
	}
	return &redis.Options{
		Network: options.Network, Addr: options.Addr, Username: options.Username, Password: options.Password, DB: options.DB,
		TLSConfig: options.TLSConfig, PoolSize: poolSize, MinIdleConns: minIdle,
		DialTimeout: probeLimit, ReadTimeout: probeLimit, WriteTimeout: probeLimit, PoolTimeout: commandLimit,
		ContextTimeoutEnabled: true, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}, nil
}

// Ping asks Redis for a sign of life, past the switch.
func Ping(ctx context.Context, address string) error {
	options, err := parse(address)
	if err != nil {
		return err
	}
	redis.SetLogger(silence{})
	client := redis.NewClient(options)
	defer client.Close() //nolint:errcheck // nothing was written
	return client.Ping(ctx).Err()
}

// Close ends all connections. Run must have returned.
func (l *Link) Close() error { return l.client.Close() }

// Run looks after Redis until ctx ends.
func (l *Link) Run(ctx context.Context) error {
	l.probe(ctx)
	if !l.isUp() {
		l.log.Warn("redis does not answer: this hub goes by what it knows itself until it does")
	}
	wait := time.NewTimer(l.pause())
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.lost:
		case <-wait.C:
			l.probe(ctx)
		}
		wait.Reset(l.pause())
	}
}

func (l *Link) pause() time.Duration {
	if l.isUp() {
		return probeEvery
	}
	return retryEvery
}

// probe writes: a Redis that answers and takes nothing is of no use.
func (l *Link) probe(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	var life *redis.StringCmd
	_, err := l.client.TxPipelined(bounded, func(p redis.Pipeliner) error {
		p.SetNX(bounded, l.keys.life(), rand.Text(), lifeFor)
		p.PExpire(bounded, l.keys.life(), lifeFor)
		life = p.Get(bounded, l.keys.life())
		return nil
	})
	switch {
	case err == nil:
		l.restore(life.Val())
	case ctx.Err() == nil:
		l.trip(err)
	}
}

// do exchanges something with Redis in bounded time. It returns errAway at once while Redis is away, and any failure opens the switch. A missing
// key is none. The end of ctx does not count: a caller who has left must not make Redis look away.
func (l *Link) do(ctx context.Context, limit time.Duration, exchange func(context.Context) error) error {
	if !l.isUp() {
		return errAway
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	err := exchange(bounded)
	if err == nil || errors.Is(err, redis.Nil) {
		return nil
	}
	l.trip(err)
	return fmt.Errorf("ask redis: %w", err)
}

func (l *Link) isUp() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.up
}

// returned is closed once Redis answers again.
func (l *Link) returned() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.back
}

// contents names what Redis holds: another name means that what was there before is lost.
func (l *Link) contents() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.life
}

func (l *Link) trip(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.up {
		return
	}
	l.up, l.back = false, make(chan struct{})
	l.metrics.up.Set(0)
	l.metrics.failures.Inc()
	l.log.Warn("redis was lost: this hub goes by what it knows itself until it is back", "error", err)
	select {
	case l.lost <- struct{}{}:
	default: // Run will look anyway
	}
}

func (l *Link) restore(life string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.life != "" && l.life != life {
		l.log.Warn("redis has lost what it held: it is filled again")
	}
	l.life = life
	if l.up {
		return
	}
	l.up = true
	l.metrics.up.Set(1)
	l.log.Info("redis answers")
	close(l.back)
}

// silence keeps the library from writing to standard error beside our log.
type silence struct{}

// Printf drops what it is given.
func (silence) Printf(context.Context, string, ...any) {}
