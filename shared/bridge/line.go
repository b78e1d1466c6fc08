package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// maxSessionID is a bound of ours in bytes: S4 has none, and the id travels in every row of the run.
const maxSessionID = 1024

// Reason names why a line, or a part of it, was not used. Reasons go to logs and counters.
type Reason string

// Reasons for an ignored line.
const (
	ReasonNotJSON     Reason = "not_json"
	ReasonNotObject   Reason = "not_object"
	ReasonTooDeep     Reason = "too_deep"
	ReasonNoType      Reason = "no_type"
	ReasonUnknownType Reason = "unknown_type" // a word that is not ours, one of ours in another case, or one of protocol 0.3
	ReasonBadRequest  Reason = "bad_permission_request"
)

// Reasons for an ignored part of a good line, and for a good line that comes at the wrong time.
const (
	ReasonSessionID       Reason = "bad_session_id"
	ReasonUsage           Reason = "bad_usage"
	ReasonUsageOnPartial  Reason = "usage_on_partial"
	ReasonOtherSession    Reason = "other_session_id"
	ReasonSecondResult    Reason = "second_result"
	ReasonAfterError      Reason = "after_error"
	ReasonPermissionOff   Reason = "permission_off"
	ReasonRepeatedRequest Reason = "repeated_permission_request"
)

// IgnoredError says that a line of stdout is not an event. It is never part of the reply.
type IgnoredError struct{ Reason Reason }

func (e *IgnoredError) Error() string { return fmt.Sprintf("line ignored: %s", e.Reason) }

// Line is one event of an agent.
type Line struct {
	Type      Type
	SessionID string // valid, or ""
	Text      string // of a partial or result; the message of an error
	Role      Role   // of a partial
	// Usage is the object as the agent wrote it, of a result or error only.
	Usage    json.RawMessage
	Request  PermissionRequest
	Warnings []Reason
}

// PermissionRequest asks a person to let a tool run. Malformed is a request of which only RequestID can be used: it is denied.
type PermissionRequest struct {
	RequestID   string
	ToolName    string
	Input       json.RawMessage // an object
	Description string
	ToolUseID   string
	Malformed   bool
}

// ParseLine classifies one line of stdout (S4 "stdout NDJSON events"). The error is always an *IgnoredError.
func ParseLine(data []byte) (Line, error) {
	fields, reason := object(data)
	if reason != "" {
		return Line{}, &IgnoredError{reason}
	}
	l := Line{Type: Type(fields.text("type"))}
	l.SessionID, l.Warnings = fields.sessionID()
	switch l.Type {
	case TypePartial:
		l.parsePartial(fields)
	case TypeResult:
		l.Text = fields.text("text")
		l.parseUsage(fields)
	case TypeError:
		l.Text = fields.text("message")
		l.parseUsage(fields)
	case TypePermissionRequest:
		if !l.parseRequest(fields) {
			return Line{}, &IgnoredError{ReasonBadRequest}
		}
	case "":
		return Line{}, &IgnoredError{ReasonNoType}
	default:
		return Line{}, &IgnoredError{ReasonUnknownType}
	}
	return l, nil
}

func (l *Line) parsePartial(f fields) {
	l.Text = f.text("text")
	l.Role = Role(f.text("role"))
	if l.Role == "" {
		l.Role = Output
	}
	if _, ok := f["usage"]; ok {
		l.Warnings = append(l.Warnings, ReasonUsageOnPartial)
	}
}

func (l *Line) parseUsage(f fields) {
	usage, ok := f["usage"]
	switch {
	case !ok:
	case isObject(usage):
		l.Usage = usage
	default:
		l.Warnings = append(l.Warnings, ReasonUsage)
	}
}

// parseRequest returns false when not even the request's id can be used.
func (l *Line) parseRequest(f fields) bool {
	r := PermissionRequest{
		RequestID: f.text("request_id"), ToolName: f.text("tool_name"), Input: f["input"],
		Description: f.text("description"), ToolUseID: f.text("tool_use_id"),
	}
	r.Malformed = r.ToolName == "" || !isObject(r.Input)
	l.Request = r
	return validRequestID(r.RequestID)
}

// fields are the members of a line by their exact names: encoding/json's structs would take "Type" for "type".
type fields map[string]json.RawMessage

func object(data []byte) (fields, Reason) {
	if event.Depth(data) > event.MaxDepth {
		return nil, ReasonTooDeep
	}
	var f fields
	switch {
	case !json.Valid(data):
		return nil, ReasonNotJSON
	case !isObject(bytes.TrimSpace(data)):
		return nil, ReasonNotObject
	case json.Unmarshal(data, &f) != nil:
		return nil, ReasonNotJSON
	}
	return f, ""
}

// text returns a member that is a string, "" for any other.
func (f fields) text(name string) string {
	var s string
	if json.Unmarshal(f[name], &s) != nil {
		return ""
	}
	return s
}

// sessionID returns a usable id or "", with a warning if there was an unusable one.
func (f fields) sessionID() (string, []Reason) {
	raw, ok := f["session_id"]
	if !ok {
		return "", nil
	}
	if s := f.text("session_id"); validSessionID(s) {
		return s, nil
	}
	if string(raw) == `""` || string(raw) == "null" {
		return "", nil // says "none yet", against the rule, and harms nobody
	}
	return "", []Reason{ReasonSessionID}
}

func isObject(raw []byte) bool { return bytes.HasPrefix(raw, []byte("{")) }

func validRequestID(s string) bool {
	return s != "" && len(s) <= maxSessionID && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}
