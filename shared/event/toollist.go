package event

import "encoding/json"

// What an agent says of where its tools come from (S1's later events, R12).
type (
	ToolListReadyPayload struct {
		AgentID SubAgent     `json:"agent_id,omitempty"`
		Tools   []ListedTool `json:"tools"`
	}
	ListedTool struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"` // a JSON Schema
	}
	MCPConnectBeginPayload struct {
		AgentID SubAgent `json:"agent_id,omitempty"`
		Servers []string `json:"servers"`
	}
	MCPConnectEndPayload struct {
		AgentID SubAgent      `json:"agent_id,omitempty"`
		Status  RequestStatus `json:"status" oneof:"completed,failed,aborted"`
		Results []MCPResult   `json:"results"`
	}
	MCPResult struct {
		Server     string        `json:"server"`
		Transport  string        `json:"transport" oneof:"stdio,http,sse"`
		Status     RequestStatus `json:"status" oneof:"completed,failed,aborted"`
		DurationMS int64         `json:"duration_ms"`
		Tools      []string      `json:"tools,omitempty"` // names
		Error      string        `json:"error,omitempty"`
	}
)
