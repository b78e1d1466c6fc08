package conformance

import (
	"errors"
	"strings"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// bridgeEar listens to a turn of the bridge protocol.
type bridgeEar struct {
	ledger  *ledger
	state   *bridge.TurnState
	asks    requests
	results int
	errors  int
}

func newBridgeEar(l *ledger, asks bool) *bridgeEar {
	state := bridge.NewTurnState(bridge.Profile{Streaming: true, Permission: asks})
	return &bridgeEar{ledger: l, state: state, asks: newRequests(l, asks)}
}

func (e *bridgeEar) session() string { return e.state.SessionID() }

func (e *bridgeEar) hear(text []byte) heard {
	f := fieldsOf(text)
	line, err := bridge.ParseLine(text)
	var ignored *bridge.IgnoredError
	if errors.As(err, &ignored) {
		e.ignored(ignored.Reason, f, text)
		return heard{}
	}
	e.ledger.keep(eventVocabulary, eventCase, eventLegacy)
	e.sequence(line)
	said(e.ledger, line, f)
	var h heard
	for _, effect := range e.state.Step(line) {
		if ask, ok := effect.(bridge.AskPerson); ok {
			h.request = &request{Ask: runtime.AskOf(ask.Request)}
		}
		if answer, ok := effect.(bridge.Respond); ok { // malformed: denied like any other
			refusal, _ := answer.Response.Encode() // of text, which always can be
			h.request = &request{refusal: refusal}
		}
	}
	h.final = line.Type == bridge.TypeResult || line.Type == bridge.TypeError
	return h
}

// ignored says which rule a line breaks that is no event.
func (e *bridgeEar) ignored(reason bridge.Reason, f fields, text []byte) {
	name, _ := f.text("type")
	switch {
	case reason == bridge.ReasonBadRequest:
		e.ledger.breach(permissionID, "request_id is %s", orNothing(f["request_id"]))
	case reason == bridge.ReasonTooDeep:
		e.ledger.breach(stdoutEvents, "a line nests deeper than any event does: %.60q", text)
	case name == "session" || name == "text":
		e.ledger.breach(eventLegacy, "type is %q", name)
	case inAnotherCase(name, bridgeTypes()):
		e.ledger.breach(eventCase, "type is %q", name)
	default:
		e.ledger.breach(eventVocabulary, "type is %s", orNothing(f["type"]))
	}
}

func bridgeTypes() []string {
	return []string{
		string(bridge.TypePartial), string(bridge.TypeResult), string(bridge.TypeError), string(bridge.TypePermissionRequest),
	}
}

func inAnotherCase(name string, types []string) bool {
	for _, t := range types {
		if strings.EqualFold(strings.TrimSpace(name), t) {
			return true
		}
	}
	return false
}

// sequence checks a line against those before it.
func (e *bridgeEar) sequence(line bridge.Line) {
	l := e.ledger
	if e.errors > 0 {
		l.breach(errorLast, "a %s after an error", line.Type)
	}
	switch line.Type {
	case bridge.TypeResult:
		e.results++
		l.check(resultOnce, e.results < 2, "a second result")
	case bridge.TypeError:
		e.errors++
		l.keep(errorLast)
	case bridge.TypePermissionRequest:
		e.asks.permission(line.Request)
	}
	known := e.state.SessionID()
	switch {
	case known == "":
	case line.SessionID != "":
		l.check(sessionStable, line.SessionID == known, "%.80q after %.80q", line.SessionID, known)
		l.keep(sessionCarried)
	case line.Type != bridge.TypePermissionRequest: // which is never held back for it
		l.breach(sessionCarried, "a %s without it", line.Type)
	}
	if known == "" && line.SessionID != "" {
		l.keep(sessionStable, sessionCarried)
	}
}

func isObject(raw []byte) bool { return strings.HasPrefix(string(raw), "{") }

func (e *bridgeEar) end(exit process.Exit) ended {
	e.asks.end()
	o := e.state.Finish(bridge.Exit{Code: exit.Code, Stderr: exit.Stderr})
	return ended{ok: o.OK(), errored: o.Code == fault.AgentError, why: o.Message}
}
