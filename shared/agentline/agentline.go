// Package agentline is what agents of the `events` runtime write on stdout (R17): one JSON object per line, the seven AgentEvents of S2 and
// facts of the run.agent family. Their turn arrives as S4's turn line (package bridge). Parse is the edge's side, Writer the agent's.
//
//	{"type":"delta","content":"text","content_index":0,"last":false}      with "last" perhaps "fidelity":{…}, as in a tool_call and in reasoning
//	{"type":"tool_call","tool_call_id":"1","tool_name":"search","tool_args":{…},"intent":"text"}
//	{"type":"tool_call","tool_call_id":"2","tool_name":"open_url","tool_args":{…},"target":"client"}      a tool that a client carries out
//	{"type":"tool_result","tool_call_id":"1","tool_name":"search","tool_result":…,"images":["data:…"]}      or "error":{"code","message","retryable"}
//	{"type":"artifact","artifact":{"filename":"a.md","content_type":"text/markdown","path":"a.md"}}   or "content", or "content_base64"
//	{"type":"state_change","state":"planning"}
//	{"type":"done","answer":"whole answer"}
//	{"type":"error","error_code":"rate_limit","error_message":"sentence","retryable":true}
//	{"type":"session_init","session_id":"name to resume by","model":"name of what answers","provider":"…","system_prompt":"…","tools":[…]}
//	{"type":"run.agent.thinking","payload":{"delta":"reasoning"},"apart":false,"last":false}      and any other run.agent.* fact, or run.checkpoint
//	{"type":"run.agent.tool_input","payload":{"tool_call_id":"1","tool_name":"search","partial_json":"{\"q\":"}}
//	{"type":"run.agent.tool_output","payload":{"tool_call_id":"1","delta":"12 files\n"}}
//	{"type":"prompt","request_id":"1","kind":"question","inner":{…},"timeout_ms":60000}      asks a person; kinds are those of event.PromptKind
//
// What happens inside a sub-agent has its "agent_id", in a fact as part of the payload; event.TaskStarted makes it known. Facts that have a decided
// shape are event.AgentFacts.
//
// An agent of the bridge protocol moves here by adding such lines: its own partial, result, error and permission_request are lines of this
// runtime too, with the session_id and usage that they carry, and mean what they mean there.
//
// Whoever asks reads the answers on stdin, in any order: permission_response of the bridge protocol, and for a prompt
//
//	{"type":"prompt_response","request_id":"1","decision":"allow","response":{…},"reason":"text"}
//
// and for a tool_call with target client, as soon as the client has carried it out,
//
//	{"type":"tool_result","tool_call_id":"2","tool_name":"open_url","status":"ok","output":…}      or "error", with status failed or cancelled
//
// Keys that are not named here are ignored, so that agents can be newer than the edge. `tool_call_id` may be missing: calls and results then
// pair by name. `answer` is used only if nothing of it was a delta. The agent ends with done or error, then exits with code 0.
package agentline

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// Type is the `type` of a line.
type Type string

// Types of line; facts have their event's type.
const (
	Delta       Type = "delta"
	ToolCall    Type = "tool_call"
	ToolResult  Type = "tool_result"
	Artifact    Type = "artifact"
	StateChange Type = "state_change"
	Done        Type = "done"
	Error       Type = "error"
	SessionInit Type = "session_init"
	Prompt      Type = "prompt"
)

// Types of the bridge protocol that are lines here too; its error is told from ours by its fields.
const (
	Partial    = Type(bridge.TypePartial)
	Result     = Type(bridge.TypeResult)
	Permission = Type(bridge.TypePermissionRequest)
)

// Line is one line with all of its fields; which ones count depends on Type.
type Line struct {
	Type Type `json:"type"`
	// Bridge is set for a line of the bridge protocol; of the fields below only AgentID and Retryable count then.
	Bridge *bridge.Line `json:"-"`
	// AgentID is the sub-agent in which it happens; "" is the run's own agent.
	AgentID event.SubAgent `json:"agent_id,omitempty"`

	Content      string `json:"content,omitempty"`
	ContentIndex int    `json:"content_index,omitempty"`
	Last         bool   `json:"last,omitempty"`  // the message, or the block of reasoning, ends with it, and the turn goes on
	Apart        bool   `json:"apart,omitempty"` // of reasoning: it stands by itself, outside of any message

	ToolCallID string           `json:"tool_call_id,omitempty"`
	ToolName   string           `json:"tool_name,omitempty"`
	ToolArgs   json.RawMessage  `json:"tool_args,omitempty"`
	ToolResult json.RawMessage  `json:"tool_result,omitempty"`
	Intent     string           `json:"intent,omitempty"`   // of a call
	Target     event.ToolTarget `json:"target,omitempty"`   // of a call: who carries it out; "" for the agent itself
	Metadata   json.RawMessage  `json:"metadata,omitempty"` // of a result
	Images     []string         `json:"images,omitempty"`   // of a result: data:MIME;base64,… URLs
	Error      *event.ErrorObj  `json:"error,omitempty"`

	Artifact *File `json:"artifact,omitempty"`

	State     string `json:"state,omitempty"`
	Answer    string `json:"answer,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Model     string `json:"model,omitempty"` // of a session, with what it runs
	Provider  string `json:"provider,omitempty"`
	// ModelContextWindow is how many tokens fit into the model's context, or a name for that.
	ModelContextWindow json.RawMessage `json:"model_context_window,omitempty"`
	SystemPrompt       string          `json:"system_prompt,omitempty"`
	Tools              json.RawMessage `json:"tools,omitempty"`       // a list of {name, description, parameters?}
	AgentState         string          `json:"agent_state,omitempty"` // a path

	ErrorCode    string `json:"error_code,omitempty"`
	ErrorMessage string `json:"error_message,omitempty"`
	Retryable    bool   `json:"retryable,omitempty"`

	Payload json.RawMessage `json:"payload,omitempty"`

	RequestID string           `json:"request_id,omitempty"`
	Kind      event.PromptKind `json:"kind,omitempty"`
	Inner     json.RawMessage  `json:"inner,omitempty"`
	TimeoutMS int64            `json:"timeout_ms,omitempty"` // 0 for no limit (R11)

	// Fidelity is what the provider attached to a call, or to the text or reasoning that ends here: an object, kept byte for byte.
	Fidelity event.Opaque `json:"fidelity,omitempty"`
}

// Keep is for event.Encode: the fidelity of a line stays as it is.
func (l Line) Keep() (rest any, key string, value event.Opaque) {
	value, l.Fidelity = l.Fidelity, ""
	return l, "fidelity", value
}

// File is an artifact: exactly one of Path, Content and ContentBase64 says what is in it. Path is relative to the agent's directory.
type File struct {
	Filename      string  `json:"filename,omitempty"`
	ContentType   string  `json:"content_type,omitempty"`
	Path          string  `json:"path,omitempty"`
	Content       *string `json:"content,omitempty"`
	ContentBase64 []byte  `json:"content_base64,omitempty"`
	Description   string  `json:"description,omitempty"`
	Role          string  `json:"role,omitempty"` // what it is for: report, draft_email
}

// Reason names why a line was not used.
type Reason string

// Reasons.
const (
	NotJSON     Reason = "not_json"
	NotObject   Reason = "not_object"
	TooDeep     Reason = "too_deep"
	UnknownType Reason = "unknown_type"
	BadField    Reason = "bad_field" // a known field with a value of another kind, or a needed one that is missing
	AfterEnd    Reason = "after_end" // said after done or error
)

// IgnoredError says that a line is not an event. It is raw output of the process, never part of the answer.
type IgnoredError struct{ Reason Reason }

func (e *IgnoredError) Error() string { return fmt.Sprintf("line ignored: %s", e.Reason) }

// Parse reads one line. The error is always an *IgnoredError.
func Parse(data []byte) (Line, error) {
	switch {
	case event.Depth(data) > event.MaxDepth:
		if said, err := bridge.ParseLine(data); err == nil { // a request: it is read as far as it takes to be answered
			return Line{Type: Permission, Bridge: &said}, nil
		}
		return Line{}, &IgnoredError{TooDeep}
	case !json.Valid(data):
		return Line{}, &IgnoredError{NotJSON}
	}
	var l Line
	err := json.Unmarshal(data, &l)
	if l.ofBridge() {
		return l.asBridge(data)
	}
	if err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) && kind.Field == "" {
			return Line{}, &IgnoredError{NotObject}
		}
		return Line{}, &IgnoredError{BadField}
	}
	return l, l.check()
}

// ofBridge may be asked of a line with a bad field too: the bridge protocol has rules of its own for those.
func (l Line) ofBridge() bool {
	return l.Type == Partial || l.Type == Result || l.Type == Permission || (l.Type == Error && l.ErrorCode == "" && l.ErrorMessage == "")
}

func (l Line) asBridge(data []byte) (Line, error) {
	said, err := bridge.ParseLine(data)
	var ignored *bridge.IgnoredError
	switch {
	case errors.As(err, &ignored) && ignored.Reason == bridge.ReasonBadRequest:
		return Line{}, &IgnoredError{BadField}
	case err != nil:
		return Line{}, &IgnoredError{UnknownType} // the name of a key in another case
	}
	return Line{Type: l.Type, AgentID: l.AgentID, Retryable: l.Retryable, Bridge: &said}, nil
}

func (l Line) check() error {
	switch l.Type {
	case Delta, StateChange, Done, Error, ToolCall, ToolResult:
		return nil
	case SessionInit:
		return need(l.SessionID != "")
	case Artifact:
		return need(l.Artifact != nil && l.Artifact.sources() == 1)
	case Prompt:
		return need(bridge.ValidRequestID(l.RequestID))
	}
	if !l.Fact() {
		return &IgnoredError{UnknownType}
	}
	return nil
}

// Fact says whether the line is a fact rather than one of the types above.
func (l Line) Fact() bool {
	t := event.Type(l.Type)
	return t == event.RunCheckpoint || (len(t) > len(factPrefix) && t[:len(factPrefix)] == factPrefix && event.WellFormed(string(t)))
}

const factPrefix = "run.agent."

func need(ok bool) error {
	if !ok {
		return &IgnoredError{BadField}
	}
	return nil
}

func (f File) sources() int {
	n := 0
	for _, given := range []bool{f.Path != "", f.Content != nil, f.ContentBase64 != nil} {
		if given {
			n++
		}
	}
	return n
}
