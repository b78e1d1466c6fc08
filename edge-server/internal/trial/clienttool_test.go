package trial_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/trial"
	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// calling is an agent that calls a client's tool once and repeats what comes of it.
func calling(t *testing.T, tool, args string, commands ...string) trial.Agent {
	t.Helper()
	a := agent(t, profile.Events, fmt.Sprintf(`read -r turn; echo "$turn" >&2
printf '{"type":"tool_call","target":"client","tool_call_id":"1","tool_name":"%s","tool_args":%s}\n'; read -r result; echo "$result" >&2; printf '{"type":"done","answer":"x"}\n'`,
		tool, args))
	tools, err := trial.ParseTools(commands)
	if err != nil {
		t.Fatal(err)
	}
	a.Tools, a.Profile.Permission = tools, true
	return a
}

func TestACommandCarriesOutAClientsTool(t *testing.T) {
	for name, tt := range map[string]struct{ tool, args, command, want string }{
		"a value":             {"a", `{"n":1.0}`, "a=cat", `"status":"ok","output":{"n":1.0}}`},
		"a text":              {"a", `{}`, "a=echo It is open.", `"status":"ok","output":"It is open."}`},
		"nothing":             {"a", `{}`, "a=true", `"status":"ok"}`},
		"a failure":           {"a", `{}`, "a=echo No. >&2; exit 3", `"status":"failed","error":{"code":"client_tool_failed","message":"No.","retryable":false}}`},
		"a silent failure":    {"a", `{}`, "a=exit 3", `"message":"exit status 3"`},
		"too much":            {"a", `{}`, "a=head -c 300000 /dev/zero", `"error":{"code":"too_large"`},
		"a value that is big": {"a", `{}`, `a=printf '"'; head -c 262130 /dev/zero | tr '\0' x; printf '"'`, `"error":{"code":"client_tool_failed","message":"The output cannot be used: `},
		"another tool":        {"b", `{}`, "a=true", `"error":{"code":"unknown_tool"`},
		"no arguments":        {"a", `[]`, "a=true", `"error":{"code":"invalid_input"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := calling(t, tt.tool, tt.args, tt.command)
			got := say(t, a, "x")
			mustHold(t, got.err, `{"type":"tool_result","tool_call_id":"1","tool_name":"`+tt.tool+`",`, tt.want, `"client_tools":[{"name":"a"`)
			if got.ExitCode != 0 {
				t.Errorf("%+v", got.Result)
			}
		})
	}
}

func TestACommandThatTakesTooLongIsATimeout(t *testing.T) {
	a := calling(t, "a", `{}`, "a=exec sleep 1000")
	a.Tools[0].TimeoutMS = 100
	mustHold(t, say(t, a, "x").err, `"status":"failed","error":{"code":"timeout"`)
}

func TestOfCallsAtOnceSixteenAreCarriedOut(t *testing.T) {
	a := agent(t, profile.Events, `read -r turn
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do printf '{"type":"tool_call","target":"client","tool_call_id":"%s","tool_name":"a"}\n' $i; done
read -r result; echo "$result" >&2; printf '{"type":"done","answer":"x"}\n'; exit 0`)
	tools, err := trial.ParseTools([]string{"a=exec sleep 1000"})
	if err != nil {
		t.Fatal(err)
	}
	a.Tools, a.Profile.Permission = tools, true
	mustHold(t, say(t, a, "x").err, `"tool_call_id":"17","tool_name":"a","status":"failed","error":{"code":"too_many_calls"`)
}

func TestTheEndOfATurnEndsItsCommands(t *testing.T) {
	a := calling(t, "a", `{}`, "a=exec sleep 1000")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out syncBuilder
	lines := trial.NewLines(writes(func(data []byte) {
		_, _ = out.Write(data)
		if strings.Contains(string(data), `"tool_call"`) {
			stop()
		}
	}))
	result, err := a.Play(ctx, host, bridge.Turn{Message: "x"}, trial.Nobody{}, lines)
	if err != nil || result.Code != "cancelled" {
		t.Errorf("%+v, %v", result, err)
	}
	mustHold(t, out.String(), `{"type":"tool_call","request_id":"1","tool":"a","target":"client","input":{}}`)
}

// writes is a function that is written to.
type writes func(data []byte)

func (w writes) Write(data []byte) (int, error) {
	w(data)
	return len(data), nil
}
