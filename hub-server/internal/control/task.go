package control

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Begun is a task that was taken.
type Begun struct {
	Message id.Message `json:"message"`
	Run     id.Run     `json:"run"`
	Queued  bool       `json:"queued,omitempty"` // another one was at work
}

// Task stores what n says as the person's message, and begins a run for it. Unless queue is set, TaskInProgress or Compacting while another run of
// the conversation is not over.
func (c *Controls) Task(ctx context.Context, by account.Principal, n chat.NewTask, queue bool, at account.Attempt) (Begun, error) {
	queued := false
	if n.Alone = !queue; queue {
		before, err := c.Runs.Active(ctx, n.Session)
		if err != nil {
			return Begun{}, err
		}
		queued = len(before) > 0
	}
	begun, err := chat.StartTaskAs(ctx, c.Messages, by, n, at, func(run runlog.Run) Begun {
		return Begun{Message: run.Trigger, Run: run.ID, Queued: queued}
	})
	if fault.CodeOf(err) == fault.TaskInProgress {
		view, look := c.Conversations.View(ctx, n.Session)
		if look == nil && view.Compacting {
			err = compacting()
		}
	}
	return begun, err
}

func compacting() error {
	return fault.New(fault.Compacting, "The context of the agent is being made smaller right now. Wait for it, or send your task with queueIfBusy: the same agent does it afterwards, another one beside it.")
}

// Abort stops all runs of the conversation whose agents the person may operate, and says whether there were any. The reason, which may be "", is told
// with their end.
func (c *Controls) Abort(ctx context.Context, by account.Principal, session id.Session, reason string) (bool, error) {
	theirs, err := c.theirs(ctx, by.User, session)
	if err != nil {
		return false, err
	}
	stopped := false
	for _, run := range theirs {
		switch _, err := c.Runs.CancelFor(ctx, run.ID, by.User, reason); {
		case fault.CodeOf(err) == fault.RunEnded: // meanwhile
		case err != nil:
			return stopped, err
		default:
			stopped = true
		}
	}
	return stopped, nil
}
