package event

import "github.com/switchyard-dev/switchyard/shared/id"

// What people say to a run while it works. It is part of the model's context from where the agent has taken it; what is not taken by the run's end
// was not delivered.
type (
	SteeredPayload struct {
		SteerID id.Steer `json:"steer_id"`
		Text    string   `json:"text"`
		UserID  id.User  `json:"user_id"` // whose words they are
	}
	SteerWithdrawnPayload struct {
		SteerID id.Steer `json:"steer_id"`
		UserID  id.User  `json:"user_id"` // who took it back; "" where the edge would not take it
	}
	// SteerTakenPayload is of run.agent.steer_taken: the agent gives the text to the model with its next request.
	SteerTakenPayload struct {
		SteerID id.Steer `json:"steer_id"`
	}
)

// Bounds of what is said to a run.
const (
	MaxSteer  = 64 << 10 // bytes of a text
	MaxSteers = 32       // that wait to be taken; the hub refuses more
)
