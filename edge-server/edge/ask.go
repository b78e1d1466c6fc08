package edge

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/edge-server/internal/localapi"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// What an edge says about itself.
type (
	Health = localapi.Health
	Runs   = localapi.Runs
)

// AskHealth asks the edge of that configuration, which runs in another process.
func AskHealth(ctx context.Context, c Config) (Health, error) {
	addr, token, err := c.door()
	if err != nil {
		return Health{}, err
	}
	return localapi.Ask(ctx, addr, token)
}

// AskRuns asks that edge for its runs, the newest first: those before one of them, or from the newest on if before is empty.
func AskRuns(ctx context.Context, c Config, before id.Run) (Runs, error) {
	addr, token, err := c.door()
	if err != nil {
		return Runs{}, err
	}
	return localapi.AskRuns(ctx, addr, token, before)
}

// Follow calls each with every event of that edge from number from on, and with those to come, until ctx ends. from 0 means only those to come.
func Follow(ctx context.Context, c Config, from wire.ProducerSeq, each func(message []byte) error) error {
	addr, token, err := c.door()
	if err != nil {
		return err
	}
	return localapi.Follow(ctx, addr, token, from, each)
}

// door is where the edge of this home listens, and what opens it.
func (c Config) door() (addr string, token localapi.Token, err error) {
	if token, err = localapi.ReadToken(c.Home); err != nil {
		return "", "", fmt.Errorf("was an edge ever started in %s?: %w", c.Home, err)
	}
	addr, err = localapi.Address(c.Home, c.Addr)
	return addr, token, err
}
