package uplink

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// capabilities takes in what the edge can run from now on. Work may have waited for just that.
func (l *lane) capabilities(ctx context.Context, data []byte) error {
	now, err := wire.Decode[wire.Capabilities](data)
	if err != nil || !l.greeted {
		return l.badFrame(err)
	}
	l.greeting.Profiles = now.Profiles
	err = l.hub.Edges.AnnounceAgain(ctx, l.edge, l.greeting, uint64(l.state.Fence))
	if errors.Is(err, fleet.ErrFenced) {
		return errFenced
	}
	if err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	if err := l.hub.Runs.DispatchWaiting(ctx, l.edge); err != nil {
		return fmt.Errorf("dispatch waiting runs: %w", err)
	}
	return l.sendCommands(ctx)
}
