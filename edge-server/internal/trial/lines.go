package trial

import (
	"encoding/json"
	"io"
	"sync"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// Lines is a Witness for programs: one JSON object per line. Make one with NewLines.
type Lines struct {
	mu  sync.Mutex
	out *json.Encoder
}

// NewLines returns a witness that writes to w.
func NewLines(w io.Writer) *Lines {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &Lines{out: enc}
}

// told is one line; which fields it has depends on Type.
type told struct {
	Type      string           `json:"type"` // text, answer, state, tool_input, tool_output, tool_call, tool_result, artifact, fact, unused, permission, prompt, stderr, end
	Agent     event.SubAgent   `json:"agent_id,omitempty"`
	Role      bridge.Role      `json:"role,omitempty"`
	Apart     bool             `json:"apart,omitempty"`
	Text      string           `json:"text,omitempty"`
	Line      string           `json:"line,omitempty"`
	Reason    string           `json:"reason,omitempty"`
	RequestID string           `json:"request_id,omitempty"`
	Tool      string           `json:"tool,omitempty"`
	Target    event.ToolTarget `json:"target,omitempty"`
	Input     json.RawMessage  `json:"input,omitempty"`
	Behavior  bridge.Behavior  `json:"behavior,omitempty"`
	Kind      event.PromptKind `json:"kind,omitempty"`
	Inner     json.RawMessage  `json:"inner,omitempty"`
	Decision  event.Decision   `json:"decision,omitempty"`
	Response  json.RawMessage  `json:"response,omitempty"`
	Result    json.RawMessage  `json:"result,omitempty"`
	Error     *event.ErrorObj  `json:"error,omitempty"`
	Filename  string           `json:"filename,omitempty"`
	Size      int64            `json:"size,omitempty"`
	Fact      event.Type       `json:"fact,omitempty"`
	Payload   any              `json:"payload,omitempty"`
	End       *ending          `json:"end,omitempty"`
}

type ending struct {
	ExitCode  int             `json:"exit_code"`
	Code      fault.Code      `json:"code,omitempty"`
	Message   string          `json:"message,omitempty"`
	SessionID string          `json:"session_id,omitempty"`
	Usage     json.RawMessage `json:"usage,omitempty"`
	Left      int             `json:"left_running,omitempty"`
	TookMS    int64           `json:"took_ms"`
}

// ofCall are the lines of texts that are a call's and no part of the reply.
var ofCall = map[run.Channel]string{run.ToolInput: "tool_input", run.ToolOutput: "tool_output"}

// Said writes an event of the agent.
func (l *Lines) Said(e run.AgentEvent) {
	switch e := e.(type) {
	case run.Delta:
		if name := ofCall[e.Channel]; name != "" {
			l.tell(told{Type: name, Agent: e.Agent, RequestID: e.Call, Text: e.Text})
			return
		}
		role := bridge.Output
		if e.Channel == run.Thought {
			role = bridge.Thinking
		}
		l.tell(told{Type: "text", Agent: e.Agent, Role: role, Apart: e.Apart, Text: e.Text})
	case run.Done:
		l.tell(told{Type: "answer", Text: e.Answer})
	case run.StateChange:
		l.tell(told{Type: "state", Text: e.State})
	case run.ToolCall:
		l.tell(told{Type: "tool_call", Agent: e.Agent, RequestID: e.ID, Tool: e.Name, Target: e.Target, Input: e.Args})
	case run.ToolResult:
		l.tell(told{Type: "tool_result", Agent: e.Agent, RequestID: e.ID, Tool: e.Name, Target: e.Target, Result: e.Result, Error: e.Error})
	case run.Artifact:
		l.tell(told{Type: "artifact", Agent: e.AgentID, Filename: e.Filename, Size: e.Size})
	case run.Fact:
		l.tell(told{Type: "fact", Fact: e.Type, Payload: e.Payload})
	}
}

// Unused writes a warning.
func (l *Lines) Unused(line, reason string) { l.tell(told{Type: "unused", Line: line, Reason: reason}) }

// Answered writes a permission request with its answer.
func (l *Lines) Answered(request bridge.PermissionRequest, response bridge.PermissionResponse) {
	l.tell(told{
		Type: "permission", RequestID: request.RequestID, Tool: request.ToolName, Input: request.Input,
		Behavior: response.Behavior, Reason: response.Message,
	})
}

// Settled writes a prompt with its answer.
func (l *Lines) Settled(asked runtime.Ask, a runtime.Answer) {
	l.tell(told{
		Type: "prompt", RequestID: asked.ID, Kind: asked.Kind, Inner: asked.Inner, Decision: a.Decision, Response: a.Response, Reason: a.Message,
	})
}

// Printed writes a line of stderr.
func (l *Lines) Printed(line string) { l.tell(told{Type: "stderr", Text: line}) }

// End writes the last line.
func (l *Lines) End(r Result) {
	l.tell(told{Type: "end", End: &ending{
		ExitCode: r.ExitCode, Code: r.Code, Message: r.Message, SessionID: r.SessionID, Usage: r.Usage, Left: r.Left,
		TookMS: r.Took.Milliseconds(),
	}})
}

// tell does not mind a reader that has gone away: that does not stop the agent.
func (l *Lines) tell(line told) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.out.Encode(line)
}
