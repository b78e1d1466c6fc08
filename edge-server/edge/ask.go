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
	token, err := c.token()
	if err != nil {
		return Health{}, err
	}
	return localapi.Ask(ctx, c.Addr, token)
}

// AskRuns asks that edge for its runs, the newest first: those before one of them, or from the newest on if before is empty.
func AskRuns(ctx context.Context, c Config, before id.Run) (Runs, error) {
	token, err := c.token()
	if err != nil {
		return Runs{}, err
	}
	return localapi.AskRuns(ctx, c.Addr, token, before)
}

// Follow calls each with every event of that edge from number from on, and with those to come, until ctx ends. from 0 means only those to come.
func Follow(ctx context.Context, c Config, from wire.ProducerSeq, each func(message []byte) error) error {
	token, err := c.token()
	if err != nil {
		return err
	}
	return localapi.Follow(ctx, c.Addr, token, from, each)
}

func (c Config) token() (localapi.Token, error) {
	token, err := localapi.ReadToken(c.Home)
	if err != nil {
		return "", fmt.Errorf("was an edge ever started in %s?: %w", c.Home, err)
	}
	return token, nil
}
