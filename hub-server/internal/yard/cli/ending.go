package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// over says whether all runs have ended and their last words, which follow their end, were told.
func (f *following) over(ctx context.Context, sent bool) (bool, error) {
	if !sent || slices.ContainsFunc(f.receipt.TaskIds, func(run client.RunID) bool { return f.feed.Outcome(run) == "" }) {
		return false, nil
	}
	for _, run := range f.receipt.TaskIds[len(f.tasks):] {
		task, err := client.Decode[client.AgentTask](f.l.API().GetAgentTask(ctx, run))
		if err != nil {
			return false, fmt.Errorf("ask how the run ended: %w", err)
		}
		f.tasks = append(f.tasks, task)
		f.succeed(task)
	}
	if len(f.tasks) < len(f.receipt.TaskIds) {
		return false, nil
	}
	untold := func(t client.AgentTask) bool { return t.FinalMessageID != "" && !f.said[t.FinalMessageID] }
	return !slices.ContainsFunc(f.tasks, untold), nil
}

// succeed goes on with the run that takes an answer to the agent which came too late for this one.
func (f *following) succeed(ended client.AgentTask) {
	if next := ended.ContinuedByRunID; next != "" {
		f.receipt.TaskIds = append(f.receipt.TaskIds, next)
		f.feed.Track(next, ended.SessionID)
	}
}

// outcome tells how the runs ended: as JSON, and as an error for the first one that did not end well. A run that went on in another one
// ended as that one did.
func (f *following) outcome() error {
	var worst error
	for _, task := range f.tasks {
		if err := f.v.line(struct {
			Task client.AgentTask `json:"task"`
		}{task}); err != nil {
			return err
		}
		if task.State != client.RunStateCompleted && task.ContinuedByRunID == "" && worst == nil {
			worst = &ended{task.ID, task.State}
		}
	}
	return worst
}
