package runlog

import (
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// control is the payload of agent.control (S3): what a person has decided about a permission, on its way to the edge. It goes to those who may
// operate the agent. An input that was changed is in the log, not here.
func control(found Run, a event.PromptAnsweredPayload) ([]byte, error) {
	type decided struct {
		RunID     id.Run         `json:"runId"`
		RequestID id.Request     `json:"requestId"`
		Decision  event.Decision `json:"decision"`
		Reason    string         `json:"reason,omitempty"`
	}
	return event.Encode(struct {
		Kind       string     `json:"kind"`
		TaskID     id.Run     `json:"agent_task_id"`
		EdgeID     id.Edge    `json:"edge_device_id"`
		ApprovalID id.Request `json:"approval_id"`
		Control    decided    `json:"edge_control"`
	}{
		Kind: "permission.decide", TaskID: found.ID, EdgeID: found.Edge, ApprovalID: a.RequestID,
		Control: decided{found.ID, a.RequestID, a.Decision, a.Reason},
	})
}
