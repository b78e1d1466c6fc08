package runlog

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// Withdraw cancels those of the runs that no edge has heard of: no agent gets to read what they ask. The others stay as they are.
func (r *Runs) Withdraw(ctx context.Context, by id.User, runs []id.Run) error {
	for _, one := range runs {
		if err := r.withdraw(ctx, by, one); err != nil {
			return fmt.Errorf("withdraw run: %w", err)
		}
	}
	return nil
}

func (r *Runs) withdraw(ctx context.Context, by id.User, one id.Run) error {
	for range raceRetries {
		found, err := r.Get(ctx, one)
		if err != nil {
			return err
		}
		if found.State != run.StateWaitingEdge && found.State != run.StateDispatched {
			return nil
		}
		c, err := r.cancellation(ctx, found, by, "The message that asked for it was taken back.")
		if err != nil {
			return err
		}
		c.IfUnheard = true
		if done, err := r.commands.Cancel(ctx, c); done || err != nil {
			return err
		}
	}
	return errRace
}
