package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/natsbus"
	"github.com/switchyard-dev/switchyard/hub-server/internal/redisstate"
)

// reachWithin is how long a service may take to answer a check of the configuration.
const reachWithin = 3 * time.Second

// checkServices judges the addresses of what hubs share besides the store.
func (c Config) checkServices() (faults []error) {
	if c.NATSURL != "" {
		if err := natsbus.CheckURL(string(c.NATSURL)); err != nil {
			faults = append(faults, fmt.Errorf("HUB_NATS_URL: %w", err))
		}
	}
	if c.NATSCredentials != "" && c.NATSURL == "" {
		faults = append(faults, errors.New("HUB_NATS_CREDENTIALS: is of no use without HUB_NATS_URL"))
	}
	if c.RedisURL != "" {
		if err := redisstate.CheckURL(string(c.RedisURL)); err != nil {
			faults = append(faults, fmt.Errorf("HUB_REDIS_URL: %w", err))
		}
	}
	return faults
}

// Reach asks what hubs share besides the store for a sign of life, as far as the configuration names it.
func Reach(ctx context.Context, c Config) error {
	ctx, cancel := context.WithTimeout(ctx, reachWithin)
	defer cancel()
	var faults []error
	if c.NATSURL != "" {
		if err := reachNATS(ctx, c); err != nil {
			faults = append(faults, fmt.Errorf("HUB_NATS_URL: %w", err))
		}
	}
	if c.RedisURL != "" {
		if err := redisstate.Ping(ctx, string(c.RedisURL)); err != nil {
			faults = append(faults, fmt.Errorf("HUB_REDIS_URL: Redis does not answer: %w", err))
		}
	}
	return errors.Join(faults...)
}

func reachNATS(ctx context.Context, c Config) error {
	bus, err := natsbus.Dial(slog.New(slog.DiscardHandler), string(c.NATSURL), c.NATSCredentials)
	if err != nil {
		return err
	}
	defer bus.Close()
	return bus.RoundTrip(ctx)
}
