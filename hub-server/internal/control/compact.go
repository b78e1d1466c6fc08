package control

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Compact has an agent make its context smaller: the one at work, or else the one that has worked last, which gets a run of its own for it. Errors:
// NothingToCompact, AlreadyCompacted, Compacting, TaskInProgress, UnsupportedByRuntime, AgentOperateRequired.
func (c *Controls) Compact(ctx context.Context, by account.Principal, session id.Session, traceID string) (id.Run, error) {
	if err := c.open(ctx, by.User, session); err != nil {
		return "", err
	}
	active, err := c.Runs.Active(ctx, session)
	if err != nil {
		return "", err
	}
	if len(active) == 0 {
		return c.compactIdle(ctx, by, session, traceID)
	}
	told, err := c.tell(ctx, by.User, session, wire.ControlOrder{What: wire.ControlCompact}, nil, c.notCompacting)
	if fault.CodeOf(err) == fault.NotRunning {
		err = fault.New(fault.TaskInProgress, "A task has not begun yet, waits for an answer, or is about to end. Try again when it is at work, or over.")
	}
	return told, err
}

func (c *Controls) notCompacting(ctx context.Context, run runlog.Run) error {
	view, err := c.Conversations.View(ctx, run.Session)
	if err == nil && view.Compacting {
		err = compacting()
	}
	return err
}

func (c *Controls) compactIdle(ctx context.Context, by account.Principal, session id.Session, traceID string) (id.Run, error) {
	last, err := c.lastBegun(ctx, session)
	if err != nil {
		return "", err
	}
	if last.State == run.StateCompleted {
		compacts, err := c.Runs.Compacts(ctx, last.ID)
		if err != nil {
			return "", err
		}
		if compacts {
			return "", fault.New(fault.AlreadyCompacted, "Nothing was said since the context of %s was made smaller.", last.AgentName)
		}
	}
	started, err := c.Messages.Compact(ctx, by, session, last.Agent, traceID)
	return started.ID, err
}

// lastBegun is the newest run of the conversation whose agent began to work; NothingToCompact if there is none.
func (c *Controls) lastBegun(ctx context.Context, session id.Session) (runlog.Run, error) {
	for q := (runlog.Query{Session: session, Limit: 20}); ; {
		page, err := c.Runs.List(ctx, q)
		if err != nil {
			return runlog.Run{}, err
		}
		for _, found := range page {
			if !found.StartedAt.IsZero() {
				return found, nil
			}
		}
		if len(page) < q.Limit {
			return runlog.Run{}, fault.New(fault.NothingToCompact, "No agent has worked in this conversation yet.")
		}
		q.Before = page[len(page)-1].ID
	}
}
