package bridge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// scenario is a whole turn: what the agent writes, how it ends, what everybody sees of it.
type scenario struct {
	name     string
	profile  bridge.Profile
	lines    []string
	exit     bridge.Exit
	partials []string // of any role
	body     string   // what the person reads in the end
	session  string
	code     fault.Code
	message  string
	exitCode int
	usage    string
	warnings []bridge.Reason
	asked    []string // ids of requests that reached a person
	answered []string // ids of requests that were answered without one
}

const (
	p1     = `{"type":"partial","text":"one "}`
	p2     = `{"type":"partial","text":"two"}`
	thinks = `{"type":"partial","text":"hm","role":"thinking"}`
	answer = `{"type":"result","text":"answer"}`
	empty  = `{"type":"result","text":""}`
	fails  = `{"type":"error","message":"rate limited"}`
	asks   = `{"type":"permission_request","request_id":"r1","tool_name":"Bash","input":{}}`
)

func withSession(line, session string) string {
	return strings.TrimSuffix(line, "}") + `,"session_id":"` + session + `"}`
}

func bodyScenarios() []scenario {
	streaming, whole := bridge.Profile{Streaming: true}, bridge.Profile{}
	return []scenario{
		{name: "partials are the body", profile: streaming, lines: []string{p1, p2, empty}, partials: []string{"one ", "two"}, body: "one two"},
		{name: "result after partials is not appended", profile: streaming, lines: []string{p1, p2, answer},
			partials: []string{"one ", "two"}, body: "one two"},
		{name: "result alone is the body", profile: streaming, lines: []string{answer}, body: "answer"},
		{name: "partials without a result succeed", profile: streaming, lines: []string{p1}, partials: []string{"one "}, body: "one "},
		{name: "thoughts are shown but are not the body", profile: streaming, lines: []string{thinks, answer}, partials: []string{"hm"}, body: "answer"},
		{name: "thoughts and text", profile: streaming, lines: []string{thinks, p1, answer}, partials: []string{"hm", "one "}, body: "one "},
		{name: "a role of the agent's own is text", profile: streaming, lines: []string{`{"type":"partial","text":"x","role":"aside"}`, answer},
			partials: []string{"x"}, body: "x"},
		{name: "empty partials carry nothing", profile: streaming, lines: []string{`{"type":"partial"}`, answer}, body: "answer"},
		{name: "without streaming partials are ignored", profile: whole, lines: []string{p1, p2, answer}, body: "answer"},
		{name: "without streaming partials alone are nothing", profile: whole, lines: []string{p1}},
		{name: "silence succeeds", profile: streaming},
		{name: "silence succeeds without streaming", profile: whole},
		{name: "lines that are no events are not part of the body", profile: streaming, lines: []string{"hello", "42", `{"type":"text","text":"x"}`, answer},
			body: "answer", warnings: []bridge.Reason{bridge.ReasonNotJSON, bridge.ReasonNotObject, bridge.ReasonUnknownType}},
		{name: "a second result is ignored", profile: streaming, lines: []string{answer, `{"type":"result","text":"again"}`},
			body: "answer", warnings: []bridge.Reason{bridge.ReasonSecondResult}},
		{name: "a partial after the result still comes", profile: streaming, lines: []string{empty, p1}, partials: []string{"one "}, body: "one "},
		{name: "usage of the result", profile: streaming, lines: []string{p1, `{"type":"result","usage":{"input_tokens":1}}`},
			partials: []string{"one "}, body: "one ", usage: `{"input_tokens":1}`},
	}
}

func sessionScenarios() []scenario {
	streaming := bridge.Profile{Streaming: true}
	return []scenario{
		{name: "session found at the end", profile: streaming, lines: []string{p1, withSession(empty, "s1")},
			partials: []string{"one "}, body: "one ", session: "s1"},
		{name: "session on each event", profile: streaming, lines: []string{withSession(p1, "s1"), withSession(answer, "s1")},
			partials: []string{"one "}, body: "one ", session: "s1"},
		{name: "the first session wins", profile: streaming, lines: []string{withSession(p1, "s1"), withSession(p2, "s2")},
			partials: []string{"one ", "two"}, body: "one two", session: "s1", warnings: []bridge.Reason{bridge.ReasonOtherSession}},
		{name: "a bad session leaves the earlier one", profile: streaming, lines: []string{withSession(p1, "s1"), withSession(p2, "a/b")},
			partials: []string{"one ", "two"}, body: "one two", session: "s1", warnings: []bridge.Reason{bridge.ReasonSessionID}},
		{name: "a bad session lets a later good one in", profile: streaming, lines: []string{withSession(p1, ".."), withSession(p2, "s1")},
			partials: []string{"one ", "two"}, body: "one two", session: "s1", warnings: []bridge.Reason{bridge.ReasonSessionID}},
		{name: "session of ignored partials counts", lines: []string{withSession(p1, "s1"), answer}, body: "answer", session: "s1"},
		{name: "session of an error is kept", profile: streaming, lines: []string{withSession(fails, "s1")},
			session: "s1", code: fault.AgentError, message: "rate limited", exitCode: 1},
		{name: "session of a partial after an error is kept", profile: streaming, lines: []string{fails, withSession(p1, "s1")},
			session: "s1", code: fault.AgentError, message: "rate limited", exitCode: 1, warnings: []bridge.Reason{bridge.ReasonAfterError}},
		{name: "session of a result after an error is not", profile: streaming, lines: []string{fails, withSession(answer, "s1")},
			code: fault.AgentError, message: "rate limited", exitCode: 1, warnings: []bridge.Reason{bridge.ReasonAfterError}},
		{name: "session of a second result is not", profile: streaming, lines: []string{answer, withSession(answer, "s1")},
			body: "answer", warnings: []bridge.Reason{bridge.ReasonSecondResult}},
		{name: "session of a request counts", profile: streaming, lines: []string{withSession(asks, "s1"), answer},
			body: "answer", session: "s1", warnings: []bridge.Reason{bridge.ReasonPermissionOff}},
	}
}

func failureScenarios() []scenario {
	streaming := bridge.Profile{Streaming: true}
	const silent = "The agent ended with exit code 3 and did not say why; what it wrote to stderr may tell more."
	const slow = "The agent did not finish within its time limit and was stopped."
	return []scenario{
		{name: "an error fails the turn even on exit 0", profile: streaming, lines: []string{p1, fails},
			partials: []string{"one "}, body: "one ", code: fault.AgentError, message: "rate limited", exitCode: 1},
		{name: "nothing comes through after an error", profile: streaming, lines: []string{fails, p1, answer, `{"type":"error","message":"second"}`},
			code: fault.AgentError, message: "rate limited", exitCode: 1,
			warnings: []bridge.Reason{bridge.ReasonAfterError, bridge.ReasonAfterError, bridge.ReasonAfterError}},
		{name: "an error counts without streaming", lines: []string{fails}, code: fault.AgentError, message: "rate limited", exitCode: 1},
		{name: "an error without words gets some", lines: []string{`{"type":"error"}`}, code: fault.AgentError,
			message: "The agent reported an error without saying which.", exitCode: 1},
		{name: "an error wins over the exit code", lines: []string{fails}, exit: bridge.Exit{Code: 3}, code: fault.AgentError, message: "rate limited", exitCode: 1},
		{name: "an error after the result fails the turn", lines: []string{answer, fails}, code: fault.AgentError, message: "rate limited", exitCode: 1},
		{name: "usage of an error", lines: []string{`{"type":"error","message":"x","usage":{"total_tokens":2}}`},
			code: fault.AgentError, message: "x", exitCode: 1, usage: `{"total_tokens":2}`},
		{name: "a timeout wins over an error", lines: []string{fails}, exit: bridge.Exit{Code: 137, TimedOut: true}, code: fault.Timeout, message: slow, exitCode: 124},
		{name: "a timeout wins over a result", lines: []string{answer}, exit: bridge.Exit{TimedOut: true}, code: fault.Timeout, message: slow, exitCode: 124},
		{name: "partials before a timeout stay", profile: streaming, lines: []string{withSession(p1, "s1")}, exit: bridge.Exit{Code: 143, TimedOut: true},
			partials: []string{"one "}, body: "one ", session: "s1", code: fault.Timeout, message: slow, exitCode: 124},
		{name: "a silent failure gets a general sentence", exit: bridge.Exit{Code: 3}, code: fault.AgentExited, message: silent, exitCode: 3},
		{name: "a result does not excuse the exit code", lines: []string{answer}, exit: bridge.Exit{Code: 3}, code: fault.AgentExited, message: silent, exitCode: 3},
		{name: "usage of a result after an error is dropped with it", profile: streaming, lines: []string{fails, `{"type":"result","usage":{}}`},
			code: fault.AgentError, message: "rate limited", exitCode: 1, warnings: []bridge.Reason{bridge.ReasonAfterError}},
		{name: "usage of a partial is not the turn's", profile: streaming, lines: []string{`{"type":"partial","text":"x","usage":{}}`},
			partials: []string{"x"}, body: "x", warnings: []bridge.Reason{bridge.ReasonUsageOnPartial}},
		{name: "an interrupt's exit code is kept", exit: bridge.Exit{Code: 130}, code: fault.AgentExited, exitCode: 130,
			message: "The agent ended with exit code 130 and did not say why; what it wrote to stderr may tell more."},
		{name: "a signal's exit code is kept", exit: bridge.Exit{Code: 143}, code: fault.AgentExited, exitCode: 143,
			message: "The agent ended with exit code 143 and did not say why; what it wrote to stderr may tell more."},
	}
}

func permissionScenarios() []scenario {
	allowed := bridge.Profile{Streaming: true, Permission: true}
	return []scenario{
		{name: "a request reaches a person", profile: allowed, lines: []string{asks, answer}, body: "answer", asked: []string{"r1"}},
		{name: "requests may be open side by side", profile: allowed, lines: []string{asks, strings.Replace(asks, "r1", "r2", 1)}, asked: []string{"r1", "r2"}},
		{name: "a repeated request is asked once", profile: allowed, lines: []string{asks, asks},
			asked: []string{"r1"}, warnings: []bridge.Reason{bridge.ReasonRepeatedRequest}},
		{name: "a malformed request is denied", profile: allowed, lines: []string{`{"type":"permission_request","request_id":"r1"}`},
			answered: []string{"r1"}, warnings: []bridge.Reason{bridge.ReasonBadRequest}},
		{name: "a request without an id is ignored", profile: allowed, lines: []string{`{"type":"permission_request"}`},
			warnings: []bridge.Reason{bridge.ReasonBadRequest}},
		{name: "without permission a request is ignored", profile: bridge.Profile{Streaming: true}, lines: []string{asks, answer},
			body: "answer", warnings: []bridge.Reason{bridge.ReasonPermissionOff}},
		{name: "a request between pieces of the reply is no part of it", profile: allowed, lines: []string{p1, asks, p2, answer},
			partials: []string{"one ", "two"}, body: "one two", asked: []string{"r1"}},
		{name: "a malformed request that is repeated is denied once", profile: allowed,
			lines:    []string{`{"type":"permission_request","request_id":"r1"}`, `{"type":"permission_request","request_id":"r1"}`},
			answered: []string{"r1"}, warnings: []bridge.Reason{bridge.ReasonBadRequest, bridge.ReasonRepeatedRequest}},
		{name: "a malformed request takes its id", profile: allowed, lines: []string{`{"type":"permission_request","request_id":"r1"}`, asks},
			answered: []string{"r1"}, warnings: []bridge.Reason{bridge.ReasonBadRequest, bridge.ReasonRepeatedRequest}},
		{name: "without permission a malformed request is ignored too", lines: []string{`{"type":"permission_request","request_id":"r1"}`},
			warnings: []bridge.Reason{bridge.ReasonPermissionOff}},
		{name: "session of a malformed request counts", profile: allowed, lines: []string{`{"type":"permission_request","request_id":"r1","session_id":"s1"}`},
			session: "s1", answered: []string{"r1"}, warnings: []bridge.Reason{bridge.ReasonBadRequest}},
		{name: "session of a request after an error is kept", profile: allowed, lines: []string{fails, withSession(asks, "s1")},
			session: "s1", code: fault.AgentError, message: "rate limited", exitCode: 1, warnings: []bridge.Reason{bridge.ReasonAfterError}},
		{name: "a timeout wins over an open request", profile: allowed, lines: []string{asks}, exit: bridge.Exit{TimedOut: true}, asked: []string{"r1"},
			code: fault.Timeout, message: "The agent did not finish within its time limit and was stopped.", exitCode: 124},
		{name: "an agent may end with a request open", profile: allowed, lines: []string{asks, answer}, body: "answer", asked: []string{"r1"}},
		{name: "an error makes later requests moot", profile: allowed, lines: []string{fails, asks},
			code: fault.AgentError, message: "rate limited", exitCode: 1, warnings: []bridge.Reason{bridge.ReasonAfterError}},
	}
}

func TestTurnsFollowTheRules(t *testing.T) {
	for _, scenarios := range [][]scenario{bodyScenarios(), sessionScenarios(), failureScenarios(), permissionScenarios()} {
		for _, s := range scenarios {
			t.Run(s.name, func(t *testing.T) { s.check(t) })
		}
	}
}

func (s scenario) check(t *testing.T) {
	t.Helper()
	state := bridge.NewTurnState(s.profile)
	var seen seen
	for _, line := range s.lines {
		seen.add(state.StepBytes([]byte(line)))
	}
	o := state.Finish(s.exit)
	if o.Streamed && o.Text != "" {
		t.Errorf("streamed, and text %q as well", o.Text)
	}
	got := []any{seen.partials, seen.body + o.Text, o.SessionID, seen.session, o.Code, o.Message, o.ExitCode, string(o.Usage), seen.warnings, seen.asked, seen.answered}
	want := []any{s.partials, s.body, s.session, s.session, s.code, s.message, s.exitCode, s.usage, s.warnings, s.asked, s.answered}
	if g, w := fmt.Sprintf("%q", got), fmt.Sprintf("%q", want); g != w {
		t.Errorf("got  %s\nwant %s", g, w)
	}
	if o.OK() != (s.code == "") || state.Failed() != (len(seen.errors) == 1) || state.SessionID() != s.session {
		t.Errorf("ok %v, failed %v, session %q, errors shown %q", o.OK(), state.Failed(), state.SessionID(), seen.errors)
	}
}

// seen gathers effects.
type seen struct {
	partials, asked, answered, errors []string
	body, session                     string
	warnings                          []bridge.Reason
}

func (s *seen) add(effects []bridge.Effect) {
	for _, effect := range effects {
		switch e := effect.(type) {
		case bridge.EmitPartial:
			s.partials = append(s.partials, e.Text)
			if e.Role != bridge.Thinking {
				s.body += e.Text
			}
		case bridge.KeepSession:
			s.session += e.SessionID // twice would show
		case bridge.AskPerson:
			s.asked = append(s.asked, e.Request.RequestID)
		case bridge.Respond:
			s.answered = append(s.answered, e.Response.RequestID)
		case bridge.ReportError:
			s.errors = append(s.errors, e.Message)
		case bridge.Warn:
			s.warnings = append(s.warnings, e.Reason)
		}
	}
}

func TestRequestsBeyondMeasureAreDeniedAtOnce(t *testing.T) {
	state := bridge.NewTurnState(bridge.Profile{Permission: true})
	var seen seen
	for i := range 5000 {
		seen.add(state.StepBytes(fmt.Appendf(nil, `{"type":"permission_request","request_id":"r%d","tool_name":"Bash","input":{}}`, i)))
	}
	if len(seen.asked) != 4096 || len(seen.answered) != 5000-4096 || seen.warnings[0] != bridge.ReasonManyRequests {
		t.Errorf("%d asked, %d denied", len(seen.asked), len(seen.answered))
	}
}

func TestSilentFailuresAreDiagnosed(t *testing.T) {
	const missing = "The agent's program %s does not exist. Check command and args of its profile."
	for stderr, want := range map[string]string{
		"python3: can't open file '/x/a.py': [Errno 2] No such file or directory\n": fmt.Sprintf(missing, "/x/a.py"),
		"node:internal\nError: Cannot find module '/x/a.js'\n    at x":              fmt.Sprintf(missing, "/x/a.js"),
		"noise\nbash: line 1: ./a.sh: No such file or directory\n":                  fmt.Sprintf(missing, "./a.sh"),
		"bash: /x/nope.sh: No such file or directory\n":                             fmt.Sprintf(missing, "/x/nope.sh"),
		"sh: 0: cannot open /x/nope.sh: No such file\n":                             fmt.Sprintf(missing, "/x/nope.sh"),
		"/bin/bash: ./a b.sh: No such file or directory\n":                          fmt.Sprintf(missing, "./a b.sh"),
		"Error: ENOENT: cannot read settings":                                       "The agent could not find a file that it needs. Check command, args and cwd of its profile.",
		"cat: x: No such file or directory":                                         "The agent could not find a file that it needs. Check command, args and cwd of its profile.",
		"segmentation fault":                                                        "The agent ended with exit code 2 and did not say why; what it wrote to stderr may tell more.",
	} {
		o := bridge.NewTurnState(bridge.Profile{}).Finish(bridge.Exit{Code: 2, Stderr: strings.Repeat("x", 1<<20) + "\n" + stderr})
		if o.Message != want {
			t.Errorf("%q\n got %q\nwant %q", stderr, o.Message, want)
		}
	}
}
