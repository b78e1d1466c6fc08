package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// ErrEmptyTurn says that a turn has neither text nor attachments: the agent must not be started for it.
var ErrEmptyTurn = errors.New("empty turn")

// ErrTurn is wrapped by ParseTurn when a line is no turn.
var ErrTurn = errors.New("malformed turn line")

const defaultSessionName = "default"

// Turn is the one line that an agent reads before anything else (S4 "stdin turn object").
type Turn struct {
	Message     string
	SessionID   string // the agent's own id from its last turn; "" begins a new session
	SessionName string // for people; "default" when empty
	Attachments []Attachment
	Permission  bool // stdin stays open for answers to permission requests

	// How the person wants it done (S0 §9.1): keys of the events runtime alone (R17). "" leaves it to the agent.
	CoordinatorMode  string // react | plan
	PlanConfirmation string // auto | required

	// Tools that clients carry out, and where they can be had by MCP as well: keys of the events runtime alone too.
	ClientTools []wire.ClientTool
	MCP         *MCP

	// Compact asks for nothing but a shorter context of the model: the message is empty. ThinkingLevel is how hard the model should think, "" as the
	// agent likes. Keys of the events runtime alone too, for agents whose profile says that they know them.
	Compact       bool
	ThinkingLevel wire.ThinkingLevel
}

// MCP is where an agent reaches a server of the Model Context Protocol (Streamable HTTP). It is good for this turn.
type MCP struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"` // to send with each request; secret
}

// Attachment is something that belongs to the message. Kind is image, file, audio, video or other; URL is file, http, https or data.
type Attachment struct {
	Kind     string `json:"kind"`
	URL      string `json:"url"`
	Filename string `json:"filename,omitempty"`
	MIMEType string `json:"mime_type,omitempty"`
	Size     int64  `json:"size,omitempty"`
}

// turnLine is the JSON form of a Turn.
type turnLine struct {
	Type             Type              `json:"type"`
	Message          string            `json:"message"`
	SessionID        string            `json:"session_id"`
	SessionName      string            `json:"session_name,omitempty"`
	Attachments      []Attachment      `json:"attachments,omitempty"`
	Permission       bool              `json:"permission,omitempty"`
	CoordinatorMode  string            `json:"coordinator_mode,omitempty"`
	PlanConfirmation string            `json:"plan_confirmation,omitempty"`
	ClientTools      []wire.ClientTool `json:"client_tools,omitempty"`
	MCP              *MCP              `json:"mcp,omitempty"`
	Compact          bool              `json:"compact,omitempty"`
	ThinkingLevel    string            `json:"thinking_level,omitempty"`
	ProtocolVersion  string            `json:"protocol_version"`
}

// Encode returns the turn as one line with its line end, or ErrEmptyTurn.
func (t Turn) Encode() ([]byte, error) {
	if t.empty() {
		return nil, ErrEmptyTurn
	}
	if t.SessionName == "" {
		t.SessionName = defaultSessionName
	}
	return encodeLine(turnLine{
		Type: TypeTurn, Message: t.Message, SessionID: t.SessionID, SessionName: t.SessionName, Attachments: t.Attachments,
		Permission: t.Permission, CoordinatorMode: t.CoordinatorMode, PlanConfirmation: t.PlanConfirmation,
		ClientTools: t.ClientTools, MCP: t.MCP, Compact: t.Compact, ThinkingLevel: string(t.ThinkingLevel), ProtocolVersion: Version,
	})
}

// ParseTurn is for agents: it reads what Encode wrote, of any protocol version, and ignores keys it does not know. Errors wrap ErrTurn or
// are ErrEmptyTurn.
func ParseTurn(line []byte) (Turn, error) {
	var l turnLine
	if err := json.Unmarshal(line, &l); err != nil {
		return Turn{}, fmt.Errorf("%w: %w", ErrTurn, err)
	}
	if l.Type != TypeTurn {
		return Turn{}, fmt.Errorf("%w: type is %.40q", ErrTurn, l.Type)
	}
	if l.SessionName == "" {
		l.SessionName = defaultSessionName
	}
	t := Turn{
		Message: l.Message, SessionID: l.SessionID, SessionName: l.SessionName, Attachments: l.Attachments, Permission: l.Permission,
		CoordinatorMode: l.CoordinatorMode, PlanConfirmation: l.PlanConfirmation,
		ClientTools: l.ClientTools, MCP: l.MCP, Compact: l.Compact, ThinkingLevel: wire.ThinkingLevel(l.ThinkingLevel),
	}
	if t.empty() {
		return t, ErrEmptyTurn
	}
	return t, nil
}

// empty says whether there is nothing to do in the turn.
func (t Turn) empty() bool { return t.Message == "" && len(t.Attachments) == 0 && !t.Compact }

// Behavior is the answer to a permission request.
type Behavior string

// Answers to a permission request.
const (
	Allow Behavior = "allow"
	Deny  Behavior = "deny"
)

// PermissionResponse answers one request on the agent's stdin.
type PermissionResponse struct {
	RequestID    string
	Behavior     Behavior
	UpdatedInput json.RawMessage // with Allow, only if the approver changed the input
	Message      string          // with Deny: why
}

// Encode returns the response as one line with its line end.
func (r PermissionResponse) Encode() ([]byte, error) {
	return encodeLine(struct {
		Type         Type            `json:"type"`
		RequestID    string          `json:"request_id"`
		Behavior     Behavior        `json:"behavior"`
		UpdatedInput json.RawMessage `json:"updated_input,omitempty"`
		Message      string          `json:"message,omitempty"`
	}{TypePermissionResponse, r.RequestID, r.Behavior, r.UpdatedInput, r.Message})
}

// encodeLine relies on JSON having no raw line end in it.
func encodeLine(v any) ([]byte, error) {
	line, err := event.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("encode bridge line: %w", err)
	}
	return append(line, '\n'), nil
}

// ValidSessionID says whether s can name a session: it may become part of a file name at the agent, so it is not empty, holds no separator and no
// control character, and is no dot path.
func ValidSessionID(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= maxSessionID && !strings.ContainsFunc(s, func(r rune) bool {
		return r == '/' || r == '\\' || unicode.IsControl(r)
	})
}
