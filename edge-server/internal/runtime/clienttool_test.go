package runtime_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// calling is a step of an agent that calls a client's tool.
func calling(id, tool, args string) string {
	return fmt.Sprintf(`say:{"type":"tool_call","target":"client","tool_call_id":%q,"tool_name":%q,"tool_args":%s}`, id, tool, args)
}

// returns is a client that answers with a response, and decision with it.
func returns(d event.Decision, response string) func(event.PromptRequestedPayload, func(wire.Answer) error) {
	return func(p event.PromptRequestedPayload, answer func(wire.Answer) error) {
		if err := answer(wire.Answer{
			RequestID: p.RequestID, Kind: event.PromptClientTool, Decision: d, Digest: p.Digest, Response: json.RawMessage(response),
		}); err != nil {
			panic(err)
		}
	}
}

// returned is what such an agent says of the end of its call.
func returned(id, rest string) string {
	return fmt.Sprintf(`text {"type":"tool_result","tool_call_id":%q,"tool_name":"open_url",%s}`, id, rest)
}

// equipped is the bench of an agent to which a client offers open_url.
func equipped(t *testing.T, steps ...string) *bench {
	t.Helper()
	b := newBench(t, profile.Events, steps...)
	b.profile.Permission = true
	b.tools = []wire.ClientTool{{Name: "open_url", Description: "Opens a page.", InputSchema: json.RawMessage(`{"type":"object"}`), TimeoutMS: 5000}}
	return b
}

func TestCallsOfClientsToolsRoundTrip(t *testing.T) {
	const (
		called = `clientcall 1 open_url {"url":"x"}`
		asks   = `asks client 1 open_url {"url":"x"}`
	)
	call := calling("1", "open_url", `{"url":"x"}`)
	for _, c := range []struct {
		rule      string
		steps     []string
		client    func(event.PromptRequestedPayload, func(wire.Answer) error)
		want      []string
		delivered string
	}{
		{"an output is passed on as it is", []string{call, "hear", done}, returns(event.Allow, `{"status":"ok","output":{"n":1.0},"metadata":{"render_hint":"url"}}`),
			[]string{called, asks, `clientresult 1 open_url {"n":1.0}`, returned("1", `"status":"ok","output":{"n":1.0},"metadata":{"render_hint":"url"}`), "done "}, "delivered allow"},
		{"a client has codes and words of its own", []string{call, "hear", done}, returns(event.Deny, `{"status":"failed","error":{"code":"E1","message":"No.","retryable":true}}`),
			[]string{called, asks, `clientfailed 1 open_url E1`, returned("1", `"status":"failed","error":{"code":"E1","message":"No.","retryable":true}`), "done "}, "delivered deny"},
		{"what a client says to people is not for the agent", []string{call, "hear", done},
			returns(event.Deny, `{"status":"failed","error":{"code":"E1","message":"No.","retryable":true,"type":"rate_limit","user_message":"Not now."}}`),
			[]string{called, asks, `clientfailed 1 open_url E1 rate_limit Not now.`, returned("1", `"status":"failed","error":{"code":"E1","message":"No.","retryable":true}`), "done "}, "delivered deny"},
		{"a client may fail without words", []string{call, "hear", done}, returns(event.Deny, `{"status":"failed"}`),
			[]string{called, asks, `clientfailed 1 open_url client_tool_failed`,
				returned("1", `"status":"failed","error":{"code":"client_tool_failed","message":"The client could not carry it out.","retryable":false}`), "done "}, "delivered deny"},
		{"a client may call it off", []string{call, "hear", done}, returns(event.Deny, `{"status":"cancelled"}`),
			[]string{called, asks, `clientfailed 1 open_url cancelled`,
				returned("1", `"status":"cancelled","error":{"code":"cancelled","message":"The client called it off.","retryable":false}`), "done "}, "delivered deny"},
		{"a client that does not answer in time has failed", []string{call, "hear", done}, returns(event.NoAnswer, ``),
			[]string{called, asks, `clientfailed 1 open_url timeout`,
				returned("1", `"status":"failed","error":{"code":"timeout","message":"The client did not answer in time.","retryable":false}`), "done "}, "delivered timeout"},
		{"what cannot be read has failed", []string{call, "hear", done}, returns(event.Allow, `[]`),
			[]string{called, asks, `clientfailed 1 open_url client_tool_failed`,
				returned("1", `"status":"failed","error":{"code":"client_tool_failed","message":"The answer of the client cannot be read.","retryable":false}`), "done "}, "delivered allow"},
		{"a call without arguments has none", []string{`say:{"type":"tool_call","target":"client","tool_call_id":"1","tool_name":"open_url"}`, "hear", done}, returns(event.Allow, `{"status":"ok"}`),
			[]string{"clientcall 1 open_url {}", "asks client 1 open_url {}", "clientresult 1 open_url ", returned("1", `"status":"ok"`), "done "}, "delivered allow"},
		{"after done nothing is answered", []string{call, done, "drain"}, nil, []string{called, asks, "done "}, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			b := equipped(t, c.steps...)
			b.client = c.client
			tr := b.play(t)
			tr.must(t, c.want...)
			if got := strings.Join(tr.delivered, " "); got != c.delivered {
				t.Errorf("%q, want %q", got, c.delivered)
			}
		})
	}
}

func TestCallsThatNobodyCanCarryOutFailAtOnceAndInTheLog(t *testing.T) {
	nested := strings.Repeat(`{"a":`, 29) + `1` + strings.Repeat(`}`, 29)
	for rule, c := range map[string]struct{ tool, args, code string }{
		"a tool that nobody offers":   {"close_url", `{}`, "unknown_tool"},
		"arguments that are a list":   {"open_url", `[]`, "invalid_input"},
		"arguments that are null":     {"open_url", `null`, "invalid_input"},
		"arguments that nest too far": {"open_url", nested, "invalid_input"},
	} {
		t.Run(rule, func(t *testing.T) {
			b := equipped(t, calling("1", c.tool, c.args), "hear", done)
			tr := b.play(t)
			if len(tr.asked) > 0 || len(tr.lines) != 4 || tr.lines[1] != fmt.Sprintf("clientfailed 1 %s %s", c.tool, c.code) {
				t.Errorf("%q", tr.lines)
			}
			if !strings.Contains(tr.lines[2], `"status":"failed","error":{"code":"`+c.code+`"`) {
				t.Errorf("the agent hears %s", tr.lines[2])
			}
		})
	}
}

func TestAnIDOfACallIsUsedOnce(t *testing.T) {
	b := equipped(t, `say:{"type":"tool_call","tool_call_id":"1","tool_name":"read"}`, calling("1", "open_url", `{}`), "hear", done)
	tr := b.play(t)
	if len(tr.asked) > 0 || len(tr.lines) != 5 || !regexp.MustCompile(`^clientfailed call_[0-9a-f]{20} open_url invalid_input$`).MatchString(tr.lines[2]) {
		t.Errorf("%q", tr.lines)
	}
	if !strings.HasPrefix(tr.lines[3], strings.TrimSuffix(returned("1", `"status":"failed"`), "}")) {
		t.Errorf("the agent hears %s", tr.lines[3])
	}
}

func TestACallWithoutAnIDGetsOneAndTheAgentPairsByName(t *testing.T) {
	b := equipped(t, `say:{"type":"tool_call","target":"client","tool_name":"open_url"}`, "hear", done)
	b.client = returns(event.Allow, `{"status":"ok","output":1}`)
	tr := b.play(t)
	id := tr.asked[0].ToolCallID
	if !strings.HasPrefix(id, "call_") {
		t.Errorf("id %q", id)
	}
	tr.must(t, "clientcall "+id+" open_url {}", "asks client  open_url {}", "clientresult "+id+" open_url 1",
		`text {"type":"tool_result","tool_name":"open_url","status":"ok","output":1}`, "done ")
}

func TestOfTooManyCallsTheLastFail(t *testing.T) {
	var steps []string
	for i := range 17 {
		steps = append(steps, calling(fmt.Sprint(i), "open_url", `{}`))
	}
	b := equipped(t, append(steps, "hear", done)...)
	tr := b.play(t)
	failed := slices.DeleteFunc(slices.Clone(tr.lines), func(l string) bool { return !strings.HasPrefix(l, "clientfailed") })
	if len(tr.asked) != 16 || !slices.Equal(failed, []string{"clientfailed 16 open_url too_many_calls"}) {
		t.Errorf("%d calls are put before the client, %q", len(tr.asked), failed)
	}
}

func TestACallIsShownWithItsLimitAndWithoutSecrets(t *testing.T) {
	b := equipped(t, calling("1", "open_url", `{"key":"sk-live-4f9a0c77"}`), "hear", calling("2", "shot", `{}`), "hear", done)
	b.tools = append(b.tools, wire.ClientTool{Name: "shot"})
	b.profile.Env["API_KEY"] = "sk-live-4f9a0c77"
	b.client = returns(event.Allow, `{"status":"ok","output":"sk-live-4f9a0c77"}`)
	tr := b.play(t)
	p := tr.asked[0]
	const input = `{"key":"[redacted]"}`
	if string(p.Input) != input || p.Digest != digest("open_url", input) || p.TimeoutMS != 5000 || p.Kind != event.PromptClientTool || p.ToolCallID != "1" {
		t.Errorf("%+v, input %s", p, p.Input)
	}
	if got := tr.asked[1].TimeoutMS; got != 120000 {
		t.Errorf("a tool without a time of its own is waited for %d ms", got)
	}
	if strings.Contains(strings.Join(tr.lines, "\n"), "sk-live") {
		t.Errorf("the secret is in the log: %q", tr.lines)
	}
}

func TestACallNeedsNobodysYesAndTheTurnNamesTheTools(t *testing.T) {
	b := equipped(t, "stderr:$TURN", calling("1", "open_url", `{}`), "hear", done)
	b.profile.Policy = profile.DenyAll
	b.client = returns(event.Allow, `{"status":"ok"}`)
	tr := b.play(t)
	const tools = `\"client_tools\":[{\"name\":\"open_url\",\"description\":\"Opens a page.\",\"input_schema\":{\"type\":\"object\"},\"timeout_ms\":5000}]`
	if all := strings.Join(tr.lines, "\n"); !strings.Contains(all, tools) || strings.Contains(all, `\"mcp\"`) {
		t.Errorf("%s", all)
	}
}

// Who may not ask reads its stdin to the end, whatever clients offer, and has calls in lines refused.
func TestToolsAreOfferedInTheTurnOnlyToWhoMayAsk(t *testing.T) {
	for runtime, steps := range map[profile.Runtime][]string{
		profile.Bridge: {"stderr:$TURN", "drain", ended},
		profile.Events: {"stderr:$TURN", "drain", calling("1", "open_url", `{}`), done},
	} {
		b := equipped(t, steps...)
		b.profile.Runtime, b.profile.Permission = runtime, false
		tr := b.play(t)
		if all := strings.Join(tr.lines, "\n"); !strings.Contains(all, "protocol_version") || strings.Contains(all, "client_tools") || len(tr.asked) > 0 {
			t.Errorf("%s: %s", runtime, all)
		}
	}
}

func TestACallEndsWithItsProcess(t *testing.T) {
	for name, c := range map[string]struct {
		step  string
		limit time.Duration
		want  string
	}{
		"killed":            {"kill", 0, "run.failed"},
		"at its turn limit": {"hang", time.Second, "run.failed"},
		"cancelled":         {"hang", 0, "run.cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			b := equipped(t, calling("1", "open_url", `{}`), c.step)
			b.profile.Timeout = c.limit
			if c.want == "run.cancelled" {
				b.stopAt = "asks client 1 open_url {}"
			}
			tr := b.play(t)
			if got := tr.outcome(t); !strings.HasPrefix(got, c.want+" ") {
				t.Errorf("ended with %s after %q", got, tr.lines)
			}
			p := tr.asked[0]
			if err := tr.answer(wire.Answer{RequestID: p.RequestID, Decision: event.Allow, Digest: p.Digest}); fault.CodeOf(err) != fault.TooLate {
				t.Errorf("answered afterwards: %v", err)
			}
		})
	}
}

func TestACallThatCannotBeRecordedIsNotMade(t *testing.T) {
	b := equipped(t, calling("1", "open_url", `{}`), "read", "write:heard=$HEARD", done)
	b.refuse = func(e run.AgentEvent) bool { _, asks := e.(run.Asked); return asks }
	b.play(t)
	if got := b.written(t, "heard"); !strings.Contains(got, `"status":"failed","error":{"code":"busy"`) {
		t.Errorf("the agent hears %s", got)
	}
}

func TestASecondAnswerToACallIsTooLate(t *testing.T) {
	b := equipped(t, calling("1", "open_url", `{}`), "hear", done)
	b.client = func(p event.PromptRequestedPayload, answer func(wire.Answer) error) {
		if err := answer(wire.Answer{RequestID: p.RequestID, Decision: event.Allow, Digest: "other"}); fault.CodeOf(err) != fault.DigestMismatch {
			t.Errorf("an answer to something else: %v", err)
		}
		returns(event.Allow, `{"status":"ok","output":1}`)(p, answer)
		if err := answer(wire.Answer{RequestID: p.RequestID, Decision: event.Allow, Digest: p.Digest}); err == nil {
			t.Error("a second answer is taken")
		}
	}
	b.play(t).must(t, "clientcall 1 open_url {}", "asks client 1 open_url {}", "clientresult 1 open_url 1", returned("1", `"status":"ok","output":1`), "done ")
}
