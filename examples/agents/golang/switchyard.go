// Package switchyard is for agents of Switchyard's bridge protocol 0.4 in Go. One file, no dependencies: copy it into your agent.
//
//	turn, err := switchyard.ReadTurn(os.Stdin, os.Stdout)
//	turn.Partial("You said: " + turn.Message)
//	turn.Result("")
//
// Everything that is not the agent's business is here: lines, session ids, and answers to permission requests in whatever order they come.
package switchyard

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Turn is what the agent is asked, and its voice: stdout belongs to it. The first error of writing is kept and returned by Err. Not safe for
// concurrent use.
type Turn struct {
	Message string
	// Session is what the agent called this conversation last time, "" for a new one. Set it to a name under which you can find it again;
	// leave it alone if you keep nothing between turns.
	Session     string
	SessionName string
	Attachments []Attachment
	Permission  bool // the agent may ask

	lines *bufio.Reader
	out   io.Writer
	asked int
	err   error
}

// Attachment belongs to the message.
type Attachment struct {
	Kind     string `json:"kind"` // image, file, audio, video or other
	URL      string `json:"url"`
	Filename string `json:"filename"`
	MIMEType string `json:"mime_type"`
	Size     int64  `json:"size"`
}

// Request asks for the use of a tool. Input encodes as a JSON object.
type Request struct {
	Tool        string
	Input       any
	Description string
}

// Permission is the answer to a Request.
type Permission struct {
	Allowed bool
	Updated json.RawMessage // the input to use instead of yours; nil if nobody changed it
	Message string          // why it was denied
}

// ReadTurn reads the turn. Nothing else may read in or write to out.
func ReadTurn(in io.Reader, out io.Writer) (*Turn, error) {
	lines := bufio.NewReader(in)
	line, err := lines.ReadBytes('\n')
	if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
		return nil, fmt.Errorf("read turn: %w", err)
	}
	var l struct {
		Message     string       `json:"message"`
		SessionID   string       `json:"session_id"`
		SessionName string       `json:"session_name"`
		Attachments []Attachment `json:"attachments"`
		Permission  bool         `json:"permission"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return nil, fmt.Errorf("read turn: %w", err)
	}
	return &Turn{
		Message: l.Message, Session: l.SessionID, SessionName: l.SessionName, Attachments: l.Attachments, Permission: l.Permission,
		lines: lines, out: out,
	}, nil
}

// Err is the first error of writing: nobody listens any more.
func (t *Turn) Err() error { return t.err }

// event is one line, with the fields of all types.
type event struct {
	Type        string  `json:"type"`
	Text        *string `json:"text,omitempty"`
	Role        string  `json:"role,omitempty"`
	Message     string  `json:"message,omitempty"`
	Usage       any     `json:"usage,omitempty"`
	RequestID   string  `json:"request_id,omitempty"`
	ToolName    string  `json:"tool_name,omitempty"`
	Input       any     `json:"input,omitempty"`
	Description string  `json:"description,omitempty"`
	SessionID   string  `json:"session_id,omitempty"`
}

// Partial says the next piece of the reply.
func (t *Turn) Partial(text string) { t.say(event{Type: "partial", Text: &text}) }

// Thinking says the next piece of the reasoning, which is shown beside the reply.
func (t *Turn) Thinking(text string) { t.say(event{Type: "partial", Role: "thinking", Text: &text}) }

// Result ends the turn. text is the whole reply, needed only if no partial said it.
func (t *Turn) Result(text string) { t.say(event{Type: "result", Text: &text}) }

// ResultWithUsage is Result with what the turn cost: an object with keys such as input_tokens, output_tokens and cost_usd.
func (t *Turn) ResultWithUsage(text string, usage any) {
	t.say(event{Type: "result", Text: &text, Usage: usage})
}

// Error fails the turn with a sentence for people. Exit after it.
func (t *Turn) Error(message string) { t.say(event{Type: "error", Message: message}) }

// RequestPermission asks a person whether a tool may be used, and waits for the answer.
func (t *Turn) RequestPermission(r Request) Permission { return t.RequestPermissions(r)[0] }

// RequestPermissions asks for several tools at once and waits for all answers, in the order asked.
func (t *Turn) RequestPermissions(requests ...Request) []Permission {
	answers := make([]Permission, len(requests))
	place := map[string]int{} // of the requests that wait
	for i, r := range requests {
		if !t.Permission { // nobody would answer
			answers[i].Message = "This agent may not ask: its profile lacks permission: true."
			continue
		}
		t.asked++
		id := strconv.Itoa(t.asked)
		place[id] = i
		answers[i].Message = "Nobody answered."
		t.say(event{Type: "permission_request", RequestID: id, ToolName: r.Tool, Input: r.Input, Description: r.Description})
	}
	for len(place) > 0 {
		line, err := t.lines.ReadBytes('\n')
		if err != nil {
			break // the turn is over: what has no answer is denied
		}
		var a struct {
			Type         string          `json:"type"`
			RequestID    string          `json:"request_id"`
			Behavior     string          `json:"behavior"`
			UpdatedInput json.RawMessage `json:"updated_input"`
			Message      string          `json:"message"`
		}
		if json.Unmarshal(line, &a) != nil || a.Type != "permission_response" {
			continue
		}
		if i, waits := place[a.RequestID]; waits {
			answers[i] = Permission{Allowed: a.Behavior == "allow", Updated: a.UpdatedInput, Message: a.Message}
			delete(place, a.RequestID)
		}
	}
	return answers
}

func (t *Turn) say(e event) {
	e.SessionID = t.Session
	line, err := json.Marshal(e)
	if err == nil && t.err == nil {
		_, err = t.out.Write(append(line, '\n'))
	}
	if t.err == nil {
		t.err = err
	}
}
