package agentline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"time"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// Writer is an agent's voice, or that of one of its sub-agents: each call is one line, written at once, so that whoever follows sees it now.
// Together they keep the chain of what was said. The first error of the writer underneath is kept and returned by Err; nothing is written after
// it. Not safe for concurrent use, nor are two that belong together.
type Writer struct {
	out   *output
	agent event.SubAgent // "" for the run's own
}

// Detail adds to a line what most lines of its type do without.
type Detail func(*Line)

// Intent says what a call is for, in a person's words.
func Intent(text string) Detail { return func(l *Line) { l.Intent = text } }

// ByClient says that a client carries a call out: its end comes on stdin, as a CallResult.
func ByClient() Detail { return func(l *Line) { l.Target = event.TargetClient } }

// Metadata says how to show a result. object must encode as a JSON object; one that does not is left out.
func Metadata(object any) Detail {
	return func(l *Line) {
		if encoded, err := event.Encode(object); err == nil {
			l.Metadata = encoded
		}
	}
}

// Err is the first error: nobody listens any more.
func (w *Writer) Err() error { return w.out.err }

// Delta says the next piece of the answer.
func (w *Writer) Delta(text string) {
	w.out.chain.Text(text)
	w.line(Line{Type: Delta, Content: text})
}

// EndMessage ends the message; what is said next is another one.
func (w *Writer) EndMessage(details ...Detail) { w.line(Line{Type: Delta, Last: true}, details...) }

// Fidelity is what the provider attached to a call, or to what ends here: a JSON object, passed on byte for byte.
func Fidelity(object json.RawMessage) Detail {
	return func(l *Line) { l.Fidelity = event.Opaque(object) }
}

// Think says the next piece of the reasoning.
func (w *Writer) Think(text string) {
	w.out.chain.Thought(text)
	w.line(Line{Type: Type(event.Thinking), Payload: w.out.encode(map[string]string{"delta": text})})
}

// ThinkApart says the next piece of reasoning that stands by itself, outside of any message.
func (w *Writer) ThinkApart(text string) {
	w.out.chain.Thought(text)
	w.line(Line{Type: Type(event.Thinking), Payload: w.out.encode(map[string]string{"delta": text}), Apart: true})
}

// EndThought ends a block of reasoning; what is thought next is another one.
func (w *Writer) EndThought(details ...Detail) {
	w.line(Line{Type: Type(event.Thinking), Payload: w.out.encode(map[string]string{"delta": ""}), Last: true}, details...)
}

// ToolInputOf shows the next piece of the arguments of a call of a tool while they are written. The call shows as it grows.
func (w *Writer) ToolInputOf(call, tool, piece string) {
	w.line(Line{Type: Type(event.ToolInput), Payload: w.out.encode(struct {
		ToolCallID  string `json:"tool_call_id"`
		ToolName    string `json:"tool_name"`
		PartialJSON string `json:"partial_json"`
	}{call, tool, piece})})
}

// ToolOutput shows the next piece of what an open call puts out. All pieces together are the beginning of its result.
func (w *Writer) ToolOutput(call, piece string) {
	w.line(Line{Type: Type(event.ToolOutput), Payload: w.out.encode(struct {
		ToolCallID string `json:"tool_call_id"`
		Delta      string `json:"delta"`
	}{call, piece})})
}

// ToolInput shows the next piece of a call's arguments while they are written. call may be "".
func (w *Writer) ToolInput(call, piece string) {
	w.line(Line{Type: Type(event.ToolInput), Payload: w.out.encode(struct {
		ToolCallID  string `json:"tool_call_id,omitempty"`
		PartialJSON string `json:"partial_json"`
	}{call, piece})})
}

// State tells a move of the agent's own state machine.
func (w *Writer) State(state string) { w.out.line(Line{Type: StateChange, State: state}) }

// SessionInit names the session by which the agent can be resumed.
func (w *Writer) SessionInit(id string, details ...Detail) {
	w.line(Line{Type: SessionInit, SessionID: id}, details...)
}

// Model says which model answers in a session.
func Model(name string) Detail { return func(l *Line) { l.Model = name } }

// Context says with what the model of a session runs.
func Context(provider string, window json.RawMessage, systemPrompt string, tools any, state string) Detail {
	return func(l *Line) {
		l.Provider, l.ModelContextWindow, l.SystemPrompt, l.AgentState = provider, window, systemPrompt, state
		if encoded, err := event.Encode(tools); err == nil && tools != nil {
			l.Tools = encoded
		}
	}
}

// Images are what came out of a tool as images: data:MIME;base64,… URLs.
func Images(urls ...string) Detail { return func(l *Line) { l.Images = urls } }

// ToolCall starts a tool. args must encode as JSON.
func (w *Writer) ToolCall(id, name string, args any, details ...Detail) {
	encoded := w.out.encode(args)
	w.out.fail(w.out.chain.Call(name, encoded))
	w.line(Line{Type: ToolCall, ToolCallID: id, ToolName: name, ToolArgs: encoded}, details...)
}

// ToolResult ends a tool. result must encode as JSON.
func (w *Writer) ToolResult(id, name string, result any, details ...Detail) {
	encoded := w.out.encode(result)
	w.out.fail(w.out.chain.Result(encoded))
	w.line(Line{Type: ToolResult, ToolCallID: id, ToolName: name, ToolResult: encoded}, details...)
}

// ToolFailed ends a tool with an error.
func (w *Writer) ToolFailed(id, name string, failure event.ErrorObj) {
	w.out.chain.Failure(string(failure.Code), failure.Message)
	w.line(Line{Type: ToolResult, ToolCallID: id, ToolName: name, Error: &failure})
}

// Artifact hands out a file with the given content.
func (w *Writer) Artifact(filename, contentType string, content []byte, details ...Detail) {
	sum := sha256.Sum256(content)
	w.out.chain.Artifact(hex.EncodeToString(sum[:]))
	f := File{Filename: filename, ContentType: contentType}
	if text := string(content); utf8.ValidString(text) {
		f.Content = &text
	} else {
		f.ContentBase64 = content
	}
	w.line(Line{Type: Artifact, Artifact: &f}, details...)
}

// MadeBy says which call made an artifact, and what it is for.
func MadeBy(call, role string) Detail {
	return func(l *Line) { l.ToolCallID, l.Artifact.Role = call, role }
}

// Metrics reports the chain of everything said so far, with whatever counters the agent has.
func (w *Writer) Metrics(counters map[string]any) {
	head := w.out.chain.Head()
	payload := map[string]any{"content_chain": head.ContentChain, "items": head.Items}
	maps.Copy(payload, counters)
	w.Fact(event.SessionMetrics, payload)
}

// Ask puts a prompt before a person. id is unique within the turn, inner is an event.Question, PlanReview or StepDecision; limit is how long it
// waits, 0 for as long as it takes.
func (w *Writer) Ask(id string, kind event.PromptKind, inner any, limit time.Duration) {
	w.line(Line{Type: Prompt, RequestID: id, Kind: kind, Inner: w.out.encode(inner), TimeoutMS: limit.Milliseconds()})
}

// Done ends the turn.
func (w *Writer) Done(answer string) { w.out.line(Line{Type: Done, Answer: answer}) }

// Fail ends the turn with an error. message is a sentence for people.
func (w *Writer) Fail(code, message string, retryable bool) {
	w.out.line(Line{Type: Error, ErrorCode: code, ErrorMessage: message, Retryable: retryable})
}

// Fact states a run.agent.* fact. payload must encode as a JSON object.
func (w *Writer) Fact(t event.Type, payload any) {
	w.out.line(Line{Type: Type(t), Payload: w.scoped(w.out.encode(payload))})
}

// Begin hands a task to a sub-agent of this one and returns its voice. Its end is a fact of type event.SubAgentStatus.
func (w *Writer) Begin(task event.TaskStartedPayload) *Writer {
	if task.ParentAgentID == "" {
		task.ParentAgentID = w.agent
	}
	w.Fact(event.TaskStarted, task)
	return &Writer{out: w.out, agent: task.AgentID}
}

// scoped is a fact's payload with the sub-agent that states it, unless it names one itself.
func (w *Writer) scoped(payload json.RawMessage) json.RawMessage {
	var said map[string]json.RawMessage
	if w.agent == "" || json.Unmarshal(payload, &said) != nil || said["agent_id"] != nil {
		return payload
	}
	if said == nil {
		said = map[string]json.RawMessage{}
	}
	said["agent_id"] = w.out.encode(w.agent)
	return w.out.encode(said)
}

// line says l as the agent that the voice is of.
func (w *Writer) line(l Line, details ...Detail) {
	l.AgentID = w.agent
	for _, add := range details {
		add(&l)
	}
	w.out.line(l)
}
