package client

import (
	"context"
	"fmt"
)

// TaskError ends a Run whose run did not complete. What was said until then has been yielded.
type TaskError struct {
	Run     RunID    // that ended so: the one that was begun, or the last of those that continued it
	State   RunState // failed, cancelled or interrupted
	Code    string   // why, for programs; "" where the hub has no more to say
	Message string   // why, for people; may be empty
}

func (e *TaskError) Error() string {
	text := fmt.Sprintf("%s %s", e.Run, e.State)
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Code != "" {
		text += " (" + e.Code + ")"
	}
	return text
}

// outcome reads how a run that is over ended.
func (s *OmniSession) outcome(ctx context.Context, run RunID) (AgentTask, error) {
	task, err := asking(ctx, silently, func() (AgentTask, error) {
		return Decode[AgentTask](s.client.api.GetAgentTask(ctx, run)) //nolint:bodyclose // Decode closes it
	}, busy)
	if err != nil {
		return task, fmt.Errorf("ask how %s ended: %w", run, err)
	}
	return task, nil
}

// errorOf is nil where a run completed.
func errorOf(task AgentTask) error {
	if task.State == RunStateCompleted {
		return nil
	}
	return &TaskError{Run: task.ID, State: task.State, Code: task.Error.Code, Message: task.Error.Message}
}
