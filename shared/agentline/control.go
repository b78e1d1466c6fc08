package agentline

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Control is a line on the stdin of an agent at work: what a person says to it, or wants of it. Only an agent whose profile names the control gets it.
type Control struct {
	Type    Type     `json:"type"` // Steer, RetryNow or Compact
	SteerID id.Steer `json:"steer_id,omitempty"`
	Text    string   `json:"text,omitempty"` // of a Steer
}

// Types of Control.
const (
	Steer    Type = "steer"     // a text for the model with its next request; event.SteerTaken says when
	RetryNow Type = "retry_now" // the agent waits no longer before it makes its request again
	Compact  Type = "compact"   // the agent makes its model's context shorter before the next request
)

// Encode returns the control as one line with its line end.
func (c Control) Encode() ([]byte, error) {
	line, err := event.Encode(c)
	if err != nil {
		return nil, fmt.Errorf("encode control: %w", err)
	}
	return append(line, '\n'), nil
}

// ErrNoControl says that a line of stdin is no control.
var ErrNoControl = errors.New("no control")

// ParseControl is for agents: it reads what Encode wrote and ignores keys that it does not know.
func ParseControl(line []byte) (Control, error) {
	var c Control
	if err := json.Unmarshal(line, &c); err != nil {
		return Control{}, fmt.Errorf("%w: %w", ErrNoControl, err)
	}
	switch c.Type {
	case Steer, RetryNow, Compact:
		return c, nil
	}
	return Control{}, fmt.Errorf("%w: type is %.40q", ErrNoControl, c.Type)
}
