package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// Bounds of ours in bytes: S4 has none. The session id travels in every row of the run; the name of a tool is read by a person who has to decide.
const (
	maxSessionID = 1024
	maxToolName  = 255
)

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
	ReasonManyRequests    Reason = "too_many_permission_requests"
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
	line, reason := object(data)
	if reason == ReasonTooDeep && line.isRequest() {
		return Line{Type: TypePermissionRequest, Request: PermissionRequest{RequestID: line.text("request_id"), Malformed: true}}, nil
	}
	if reason != "" {
		return Line{}, &IgnoredError{reason}
	}
	l := Line{Type: Type(line.text("type"))}
	l.SessionID, l.Warnings = line.sessionID()
	switch l.Type {
	case TypePartial:
		l.parsePartial(line)
	case TypeResult:
		l.Text = line.text("text")
		l.parseUsage(line)
	case TypeError:
		l.Text = line.text("message")
		l.parseUsage(line)
	case TypePermissionRequest:
		if !l.parseRequest(line) {
			return Line{}, &IgnoredError{ReasonBadRequest}
		}
	case "":
		return Line{}, &IgnoredError{ReasonNoType}
	default:
		return Line{}, &IgnoredError{ReasonUnknownType}
	}
	return l, nil
}

func (l *Line) parsePartial(m members) {
	l.Text = m.text("text")
	l.Role = Role(m.text("role"))
	if l.Role == "" {
		l.Role = Output
	}
	if m.raw("usage") != nil {
		l.Warnings = append(l.Warnings, ReasonUsageOnPartial)
	}
}

func (l *Line) parseUsage(m members) {
	usage := m.raw("usage")
	switch {
	case usage == nil:
	case isObject(usage):
		l.Usage = bytes.Clone(usage)
	default:
		l.Warnings = append(l.Warnings, ReasonUsage)
	}
}

// parseRequest returns false when not even the request's id can be used.
func (l *Line) parseRequest(m members) bool {
	r := PermissionRequest{
		RequestID: m.text("request_id"), ToolName: m.text("tool_name"), Input: bytes.Clone(m.raw("input")),
		Description: m.text("description"), ToolUseID: m.text("tool_use_id"),
	}
	r.Malformed = r.ToolName == "" || len(r.ToolName) > maxToolName || !isObject(r.Input) || event.Depth(r.Input) > event.MaxValueDepth
	l.Request = r
	return ValidRequestID(r.RequestID)
}

// isRequest says whether somebody waits for an answer to the line, whatever else it is.
func (m members) isRequest() bool {
	return Type(m.text("type")) == TypePermissionRequest && ValidRequestID(m.text("request_id"))
}

// sessionID returns a usable id or "", with a warning if there was an unusable one.
func (m members) sessionID() (string, []Reason) {
	raw := m.raw("session_id")
	if raw == nil {
		return "", nil
	}
	if s := m.text("session_id"); ValidSessionID(s) {
		return s, nil
	}
	if string(raw) == `""` || string(raw) == "null" {
		return "", nil // says "none yet", against the rule, and harms nobody
	}
	return "", []Reason{ReasonSessionID}
}

func isObject(raw []byte) bool { return bytes.HasPrefix(raw, []byte("{")) }

// ValidRequestID says whether s can name a request within its turn.
func ValidRequestID(s string) bool {
	return s != "" && len(s) <= maxSessionID && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}
