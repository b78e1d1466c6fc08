package control

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Steer says something to the agent that is at work, or that is about to begin at its edge. Errors: NotRunning, UnsupportedByRuntime, AgentOperateRequired, EmptyPrompt, TooLarge.
func (c *Controls) Steer(ctx context.Context, by account.Principal, session id.Session, text string, at account.Attempt) (id.Steer, error) {
	return account.Once(ctx, c.Attempts, at, func(claim func(id.Steer) (account.Claim, error)) (id.Steer, error) {
		order := wire.ControlOrder{What: wire.ControlSteer, SteerID: id.NewSteer(), Text: text}
		if err := order.Check(); err != nil {
			return "", err
		}
		if err := c.open(ctx, by.User, session); err != nil {
			return "", err
		}
		claimed, err := claim(order.SteerID)
		if err != nil {
			return "", err
		}
		_, err = c.tell(ctx, by.User, session, order, &claimed, c.roomFor)
		return order.SteerID, err
	})
}

// tell gives an order to the run that can be told it, and is told at the commit whether that still is. fits says whether it may be given.
func (c *Controls) tell(
	ctx context.Context, by id.User, session id.Session, order wire.ControlOrder, claim *account.Claim, fits func(context.Context, runlog.Run) error,
) (id.Run, error) {
	for range raceRetries {
		runs, err := c.atWork(ctx, by, session, order.What)
		if err != nil {
			return "", err
		}
		run, err := c.target(ctx, runs, order.What)
		if err != nil {
			return "", err
		}
		if err := fits(ctx, run); err != nil {
			return "", err
		}
		if done, err := c.Runs.Order(ctx, by, run, order, claim); done || err != nil {
			return run.ID, err
		}
	}
	return "", fmt.Errorf("tell a run in %s: %w", session, errRace)
}

// roomFor refuses more than an agent and its readers are to hold.
func (c *Controls) roomFor(ctx context.Context, run runlog.Run) error {
	view, err := c.Conversations.View(ctx, run.Session)
	if err != nil {
		return err
	}
	waiting := 0
	for _, s := range view.Steering {
		if s.Run == run.ID {
			waiting++
		}
	}
	if waiting >= event.MaxSteers {
		return fault.New(fault.TooLarge, "%s has not taken %d texts yet. Wait until it has.", run.AgentName, waiting)
	}
	return nil
}

// RetryNow ends the waiting of agents before they make a request again, and says whether any waited. Errors: NotRunning, UnsupportedByRuntime,
// AgentOperateRequired.
func (c *Controls) RetryNow(ctx context.Context, by account.Principal, session id.Session) (skipped bool, err error) {
	if err := c.open(ctx, by.User, session); err != nil {
		return false, err
	}
	runs, err := c.atWork(ctx, by.User, session, wire.ControlRetryNow)
	if err != nil {
		return false, err
	}
	view, err := c.Conversations.View(ctx, session)
	if err != nil {
		return false, err
	}
	runs = slices.DeleteFunc(runs, func(run runlog.Run) bool { return !slices.Contains(view.Waiting, run.ID) })
	if len(runs) == 0 {
		return false, nil
	}
	if _, err := c.target(ctx, runs, wire.ControlRetryNow); err != nil {
		return false, err
	}
	for _, run := range runs {
		can, err := c.Runs.Can(ctx, run, string(wire.ControlRetryNow))
		if err != nil {
			return skipped, err
		}
		if !can {
			continue
		}
		done, err := c.Runs.Order(ctx, by.User, run, wire.ControlOrder{What: wire.ControlRetryNow}, nil)
		if err != nil {
			return skipped, err
		}
		skipped = skipped || done
	}
	return skipped, nil
}
