package agentline

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// maxTimeout is more than anybody waits; it keeps milliseconds from running over.
const maxTimeout = 366 * 24 * time.Hour

// CheckPrompt says why a prompt cannot be put before a person. Whoever asked waits for an answer all the same.
func (l Line) CheckPrompt() error {
	if l.TimeoutMS < 0 || l.TimeoutMS > maxTimeout.Milliseconds() {
		return fmt.Errorf("timeout_ms is %d", l.TimeoutMS)
	}
	return event.CheckInner(l.Kind, l.Inner)
}

// Response is the line that answers a prompt on the agent's stdin.
type Response struct {
	Type      Type            `json:"type"` // PromptResponse
	RequestID string          `json:"request_id"`
	Decision  event.Decision  `json:"decision"`
	Response  json.RawMessage `json:"response,omitempty"`
	Reason    string          `json:"reason,omitempty"`
}

// PromptResponse is the Type of a Response.
const PromptResponse Type = "prompt_response"

// Encode returns the response as one line with its line end.
func (r Response) Encode() ([]byte, error) {
	r.Type = PromptResponse
	line, err := event.Encode(r)
	if err != nil {
		return nil, fmt.Errorf("encode response to a prompt: %w", err)
	}
	return append(line, '\n'), nil
}

// ErrNoResponse says that a line of stdin answers no prompt.
var ErrNoResponse = errors.New("no response to a prompt")

// ParseResponse is for agents: it reads what Encode wrote and ignores keys that it does not know.
func ParseResponse(line []byte) (Response, error) {
	var r Response
	if err := json.Unmarshal(line, &r); err != nil {
		return Response{}, fmt.Errorf("%w: %w", ErrNoResponse, err)
	}
	if r.Type != PromptResponse {
		return Response{}, fmt.Errorf("%w: type is %.40q", ErrNoResponse, r.Type)
	}
	return r, nil
}
