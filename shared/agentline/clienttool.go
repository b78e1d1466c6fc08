package agentline

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// CallResult is the line on the agent's stdin that ends a call of a client's tool: a tool_call line with target client.
type CallResult struct {
	Type       Type                   `json:"type"` // ToolResult
	ToolCallID string                 `json:"tool_call_id,omitempty"`
	ToolName   string                 `json:"tool_name"`
	Status     event.ClientToolStatus `json:"status"`
	Output     json.RawMessage        `json:"output,omitempty"`   // any value, of status ok
	Error      *event.ErrorObj        `json:"error,omitempty"`    // of every other status
	Metadata   json.RawMessage        `json:"metadata,omitempty"` // an object
}

// NewCallResult says how a call of a tool has ended. Of a failure, what is said to people stays with them.
func NewCallResult(call, tool string, r event.ClientToolResponse) CallResult {
	result := CallResult{ToolCallID: call, ToolName: tool, Status: r.Status, Output: r.Output, Metadata: r.Metadata}
	if e := r.Error; e != nil {
		result.Error = &event.ErrorObj{Code: e.Code, Message: e.Message, Retryable: e.Retryable}
	}
	return result
}

// Encode returns the result as one line with its line end.
func (r CallResult) Encode() ([]byte, error) {
	r.Type = ToolResult
	line, err := event.Encode(r)
	if err != nil {
		return nil, fmt.Errorf("encode result of a client's tool: %w", err)
	}
	return append(line, '\n'), nil
}

// ErrNoCallResult says that a line of stdin ends no call.
var ErrNoCallResult = errors.New("no result of a call")

// ParseCallResult is for agents: it reads what Encode wrote and ignores keys that it does not know.
func ParseCallResult(line []byte) (CallResult, error) {
	var r CallResult
	if err := json.Unmarshal(line, &r); err != nil {
		return CallResult{}, fmt.Errorf("%w: %w", ErrNoCallResult, err)
	}
	if r.Type != ToolResult {
		return CallResult{}, fmt.Errorf("%w: type is %.40q", ErrNoCallResult, r.Type)
	}
	return r, nil
}
