package client

import (
	"cmp"
	"encoding/json"
)

// runRef is what the frames of a run have in common.
type runRef struct {
	Task    RunID     `json:"task_id"` // of a run inside a team run it is agent_task_id
	Agent   AgentID   `json:"agent_instance_id"`
	Session SessionID `json:"session_id"`
}

// refOf reads what a frame is about; fields that it lacks are empty.
func refOf(frame HubWebSocketFrame) runRef {
	var about struct {
		runRef
		InTeam  RunID           `json:"agent_task_id"`
		Payload json.RawMessage `json:"payload"`
	}
	if json.Unmarshal(frame.Payload, &about) != nil {
		return runRef{}
	}
	about.Task = cmp.Or(about.Task, about.InTeam)
	if frame.Type == HubWebSocketFrameTypeNotificationNew { // what it is about stands one level below
		var notified struct {
			Session SessionID `json:"session_id"`
		}
		if json.Unmarshal(about.Payload, &notified) == nil {
			about.Session = notified.Session
		}
	}
	return about.runRef
}
