package omni

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// context is with what a model runs, beside its name: as far as its agent has said it.
type context struct {
	Provider string          `json:"provider,omitempty"`
	Window   json.RawMessage `json:"window,omitempty"`
	Prompt   string          `json:"prompt,omitempty"`
	Tools    json.RawMessage `json:"tools,omitempty"`
	State    string          `json:"state,omitempty"`
}

// maxContext is how much of a prompt, and of a list of tools, a session remembers: more is as if it had not been said.
const maxContext = 1 << 20

func contextOf(f Fact, p event.SessionInitPayload) context {
	c := context{Provider: p.Provider, Window: p.ModelContextWindow, Prompt: p.SystemPrompt, Tools: p.Tools, State: p.AgentState}
	if p.SystemPromptBlob != nil {
		c.Prompt = f.blob(p.SystemPromptBlob)
	}
	if p.ToolsBlob != nil {
		c.Tools = json.RawMessage(f.blob(p.ToolsBlob))
	}
	if len(c.Prompt) > maxContext {
		c.Prompt = ""
	}
	if len(c.Tools) > maxContext || !json.Valid(c.Tools) {
		c.Tools = nil
	}
	return c
}

func (c context) isZero() bool {
	return c.Provider == "" && len(c.Window) == 0 && c.Prompt == "" && len(c.Tools) == 0 && c.State == ""
}

// meta is the session_meta of a session's next context. What S1 does not take is left out: a tool without a name, a window that is none.
func (in *session) meta(session string) omni.SessionMetaPayload {
	m := omni.SessionMetaPayload{
		SessionID: session, Provider: in.Context.Provider, ModelID: in.Model, SystemPrompt: in.Context.Prompt, AgentState: in.Context.State,
		Workspace: in.Workspace,
	}
	if window := in.Context.Window; len(window) > 0 && json.Unmarshal(window, &m.ModelContextWindow) != nil {
		m.ModelContextWindow = omni.ContextWindow{}
	}
	var tools []json.RawMessage
	if len(in.Context.Tools) > 0 && json.Unmarshal(in.Context.Tools, &tools) != nil {
		tools = nil
	}
	for _, one := range tools {
		var tool omni.ToolDefinition
		if json.Unmarshal(one, &tool) == nil && tool.Name != "" {
			m.Tools = append(m.Tools, tool)
		}
	}
	return m
}
