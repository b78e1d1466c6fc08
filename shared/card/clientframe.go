package card

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// ClientFrame is what a client says on /v1/ws: one of the types below (S0 §9). ReadFrame reads them.
type ClientFrame interface{ frame() string }

// The frames of a client. Each may carry an event_id of the client's choice besides; keys that are not known are ignored.
type (
	// SessionCreate chooses the conversation of a connection, or makes one (R33).
	SessionCreate struct {
		SessionID    string       `json:"session_id,omitempty"`
		AgentID      string       `json:"agent_id,omitempty"` // which agent answers in a conversation that is made
		Capabilities Capabilities `json:"capabilities,omitzero"`
		Tools        []ClientTool `json:"tools,omitzero"` // that the client carries out itself; nil leaves those declared before, an empty list withdraws them
	}
	// UserMessage is what the person says.
	UserMessage struct {
		Text             string  `json:"text,omitempty"` // short for a Content of one text; ReadFrame puts it there
		Content          Content `json:"content,omitempty"`
		AgentID          string  `json:"agent_id,omitempty"`          // which agent answers (R33)
		CoordinatorMode  string  `json:"coordinator_mode,omitempty"`  // react | plan
		PlanConfirmation string  `json:"plan_confirmation,omitempty"` // auto | required
	}
	// UserInject adds to a turn that is under way. S0 reserves it.
	UserInject struct {
		TraceID string `json:"trace_id"`
		Text    string `json:"text"`
	}
	// ToolResult is what a tool of the client has come to.
	ToolResult struct {
		ToolUseID string          `json:"tool_use_id"`
		Status    string          `json:"status"`           // ok | failed | cancelled
		Output    json.RawMessage `json:"output,omitempty"` // any value; a string is shown as it is
		Error     *ErrorInfo      `json:"error,omitempty"`  // of a failed one
		Metadata  map[string]any  `json:"metadata,omitempty"`
	}
	// PromptResponse answers a prompt. Payload depends on its kind: see Answer.
	PromptResponse struct {
		RequestID string          `json:"request_id"`
		Decision  string          `json:"decision"`
		Payload   json.RawMessage `json:"payload,omitempty"`
	}
	// SessionInterrupt stops the turn that is under way.
	SessionInterrupt struct {
		TraceID string `json:"trace_id,omitempty"`
	}
	// SessionResume goes on behind LastSeq. MessageCursors has the number of the newest append that the client has of a card (R30).
	SessionResume struct {
		TraceID        string           `json:"trace_id"`
		LastSeq        int64            `json:"last_seq"`
		MessageCursors map[string]int64 `json:"message_cursors,omitempty"`
	}
	// Ping and Pong are bare: they have neither envelope nor number (S0 §2.3).
	Ping struct{}
	Pong struct{}
)

// ClientTool is a tool that a client declares: a wire.ClientTool, whose bounds it is held to.
type ClientTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"` // a JSON Schema of an object
	TimeoutMS   int64           `json:"timeout_ms,omitempty"`   // 0: as long as a tool card is waited for
}

// BlockType is what a part of a message is.
type BlockType string

// The three types of blocks.
const (
	TextBlock  BlockType = "text"
	ImageBlock BlockType = "image"
	FileBlock  BlockType = "file"
)

// Block is a part of what a person says: Text of a text, Source of the others.
type Block struct {
	Type   BlockType `json:"type"`
	Text   string    `json:"text,omitempty"`
	Source Source    `json:"source,omitzero"`
}

// SourceType is where the bytes of a block are.
type SourceType string

// The four places. A server may refuse some of them.
const (
	PathSource   SourceType = "path"   // Path, on the client's machine
	URLSource    SourceType = "url"    // URL
	DataSource   SourceType = "base64" // Data
	UploadSource SourceType = "upload" // AttachmentID, of a file that was uploaded before
)

// Source says where the bytes of a block are (facts 0.8).
type Source struct {
	Type         SourceType `json:"type"`
	Path         string     `json:"path,omitempty"`
	URL          string     `json:"url,omitempty"`
	Data         []byte     `json:"data,omitempty"`
	AttachmentID string     `json:"attachment_id,omitempty"`
	Filename     string     `json:"filename,omitempty"`
	MediaType    string     `json:"media_type,omitempty"`
}

// The types of frames as they are written.
const (
	pingFrame = "ping"
	pongFrame = "pong"
)

func (SessionCreate) frame() string    { return "session.create" }
func (UserMessage) frame() string      { return "user.message" }
func (UserInject) frame() string       { return "user.inject" }
func (ToolResult) frame() string       { return "tool.result" }
func (PromptResponse) frame() string   { return "prompt.user_response" }
func (SessionInterrupt) frame() string { return "session.interrupt" }
func (SessionResume) frame() string    { return "session.resume" }
func (Ping) frame() string             { return pingFrame }
func (Pong) frame() string             { return pongFrame }

// EncodeFrame returns a frame as one text message, a line with its end. eventID may be "".
func EncodeFrame(f ClientFrame, eventID string) ([]byte, error) {
	body, err := event.Encode(f)
	if err != nil {
		return nil, err
	}
	head, err := event.Encode(struct {
		Type    string `json:"type"`
		EventID string `json:"event_id,omitempty"`
	}{f.frame(), eventID})
	if err != nil {
		return nil, err
	}
	line := head
	if len(body) > len(`{}`) {
		line = append(append(head[:len(head)-1], ','), body[1:]...)
	}
	return append(line, '\n'), nil
}
