package agentline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"time"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/contentchain"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// Writer is an agent's voice: each call is one line, written at once, so that whoever follows sees it now. It keeps the chain of what was said.
// The first error of the writer underneath is kept and returned by Err; nothing is written after it. Not safe for concurrent use.
type Writer struct {
	w     io.Writer
	chain contentchain.Chain
	err   error
}

// NewWriter returns a Writer to w, an agent's stdout.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Err is the first error: nobody listens any more.
func (w *Writer) Err() error { return w.err }

// Delta says the next piece of the answer.
func (w *Writer) Delta(text string) {
	w.chain.Text(text)
	w.line(Line{Type: Delta, Content: text})
}

// Think says the next piece of the reasoning.
func (w *Writer) Think(text string) {
	w.chain.Thought(text)
	w.Fact(event.Thinking, map[string]string{"delta": text})
}

// State tells a move of the agent's own state machine.
func (w *Writer) State(state string) { w.line(Line{Type: StateChange, State: state}) }

// SessionInit names the session by which the agent can be resumed.
func (w *Writer) SessionInit(id string) { w.line(Line{Type: SessionInit, SessionID: id}) }

// ToolCall starts a tool. args must encode as JSON.
func (w *Writer) ToolCall(id, name string, args any) {
	encoded := w.encode(args)
	w.fail(w.chain.Call(name, encoded))
	w.line(Line{Type: ToolCall, ToolCallID: id, ToolName: name, ToolArgs: encoded})
}

// ToolResult ends a tool. result must encode as JSON.
func (w *Writer) ToolResult(id, name string, result any) {
	encoded := w.encode(result)
	w.fail(w.chain.Result(encoded))
	w.line(Line{Type: ToolResult, ToolCallID: id, ToolName: name, ToolResult: encoded})
}

// ToolFailed ends a tool with an error.
func (w *Writer) ToolFailed(id, name string, failure event.ErrorObj) {
	w.chain.Failure(string(failure.Code), failure.Message)
	w.line(Line{Type: ToolResult, ToolCallID: id, ToolName: name, Error: &failure})
}

// Artifact hands out a file with the given content.
func (w *Writer) Artifact(filename, contentType string, content []byte) {
	sum := sha256.Sum256(content)
	w.chain.Artifact(hex.EncodeToString(sum[:]))
	f := File{Filename: filename, ContentType: contentType}
	if text := string(content); utf8.ValidString(text) {
		f.Content = &text
	} else {
		f.ContentBase64 = content
	}
	w.line(Line{Type: Artifact, Artifact: &f})
}

// Metrics reports the chain of everything said so far, with whatever counters the agent has.
func (w *Writer) Metrics(counters map[string]any) {
	head := w.chain.Head()
	payload := map[string]any{"content_chain": head.ContentChain, "items": head.Items}
	maps.Copy(payload, counters)
	w.Fact(event.SessionMetrics, payload)
}

// Ask puts a prompt before a person. id is unique within the turn, inner is an event.Question, PlanReview or StepDecision; limit is how long it
// waits, 0 for as long as it takes.
func (w *Writer) Ask(id string, kind event.PromptKind, inner any, limit time.Duration) {
	w.line(Line{Type: Prompt, RequestID: id, Kind: kind, Inner: w.encode(inner), TimeoutMS: limit.Milliseconds()})
}

// Done ends the turn.
func (w *Writer) Done(answer string) { w.line(Line{Type: Done, Answer: answer}) }

// Fail ends the turn with an error. message is a sentence for people.
func (w *Writer) Fail(code, message string, retryable bool) {
	w.line(Line{Type: Error, ErrorCode: code, ErrorMessage: message, Retryable: retryable})
}

// Fact states a run.agent.* fact. payload must encode as a JSON object.
func (w *Writer) Fact(t event.Type, payload any) {
	w.line(Line{Type: Type(t), Payload: w.encode(payload)})
}

func (w *Writer) encode(v any) json.RawMessage {
	encoded, err := event.Encode(v)
	w.fail(err)
	return encoded
}

func (w *Writer) line(l Line) {
	encoded := w.encode(l)
	if w.err != nil {
		return
	}
	if _, err := w.w.Write(append(encoded, '\n')); err != nil {
		w.fail(fmt.Errorf("write %s: %w", l.Type, err))
	}
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
