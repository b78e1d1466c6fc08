package conformance

import (
	"strings"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// ignored says which rule a line breaks that is no event.
func (e *eventsEar) ignored(reason agentline.Reason, f fields, text []byte) {
	name, _ := f.text("type")
	switch {
	case reason == agentline.TooDeep:
		e.ledger.breach(stdoutEvents, "a line nests deeper than any event does: %.60q", text)
	case reason == agentline.BadField && (name == string(agentline.Permission) || name == string(agentline.Prompt)) && !named(f):
		e.ledger.breach(permissionID, "request_id is %s", orNothing(f["request_id"]))
	case reason == agentline.BadField:
		e.ledger.breach(eventFields, "this does not fit: %.120s", text)
	case inAnotherCase(name, eventTypes()):
		e.ledger.breach(eventCase, "type is %q", name)
	default:
		e.ledger.breach(eventVocabulary, "type is %s", orNothing(f["type"]))
	}
}

// named says whether a request can be answered.
func named(f fields) bool {
	id, _ := f.text("request_id")
	return bridge.ValidRequestID(id)
}

func eventTypes() []string {
	var types []string
	for _, s := range agentline.Shapes() {
		types = append(types, string(s.Type))
	}
	return types
}

// content checks what a line holds.
func (e *eventsEar) content(line agentline.Line, f fields) {
	l := e.ledger
	session := line.SessionID
	switch {
	case line.Bridge != nil:
		said(l, *line.Bridge, f)
		session = line.Bridge.SessionID
	case line.Type == agentline.Error:
		l.check(errorMessage, strings.TrimSpace(line.ErrorMessage) != "", "error_message is %s", orNothing(f["error_message"]))
	case line.Fact():
		e.fact(line, f)
	case line.Type == agentline.SessionInit:
		valid := bridge.ValidSessionID(session)
		l.check(sessionValid, valid, "session_id is %.80q", session)
		if !valid {
			session = ""
		}
	default:
		session = ""
	}
	if session == "" {
		return
	}
	if e.named == "" {
		e.named = session
	}
	l.check(sessionStable, session == e.named, "%.80q after %.80q", session, e.named)
}
