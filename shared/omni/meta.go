package omni

import (
	"encoding/json"
	"errors"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// SessionMetaPayload is with what a context of the model runs, as far as it never changes in a session (S1, session_meta).
type SessionMetaPayload struct {
	SessionID          string           `json:"session_id" filled:"yes"`
	Provider           string           `json:"provider"`
	ModelID            string           `json:"model_id"`
	ModelContextWindow ContextWindow    `json:"model_context_window"`
	SystemPrompt       string           `json:"system_prompt"` // whole, nothing left to fill in
	Tools              []ToolDefinition `json:"tools" absent:"later"`
	AgentState         string           `json:"agent_state"` // a path
	Workspace          string           `json:"workspace"`   // a path
	Source             Source           `json:"source,omitempty" oneof:"subagent,schedule"`
}

// ToolDefinition is a tool as the model is told of it.
type ToolDefinition struct {
	Name        string          `json:"name" filled:"yes"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty" holds:"object"` // a JSON Schema
}

// Source is where a session comes from. The zero Source is a person.
type Source string

// The two other sources.
const (
	FromSubagent Source = "subagent"
	FromSchedule Source = "schedule"
)

// ContextWindow is how many tokens fit into a model's context: a number, or a name for it.
type ContextWindow struct {
	Tokens Count
	Name   string // counts where it is not empty
}

var errContextWindow = errors.New("is neither a number nor a string")

// MarshalJSON writes the name, or else the number.
func (w ContextWindow) MarshalJSON() ([]byte, error) {
	if w.Name != "" {
		return event.Encode(w.Name)
	}
	return event.Encode(w.Tokens)
}

// UnmarshalJSON reads either.
func (w *ContextWindow) UnmarshalJSON(value []byte) error {
	*w = ContextWindow{}
	if json.Unmarshal(value, &w.Name) == nil {
		return nil
	}
	if w.Tokens.UnmarshalJSON(value) != nil {
		return errContextWindow
	}
	return nil
}

func (SessionMetaPayload) shape() shapeKey { return shapeKey{Message: SessionMeta} }
