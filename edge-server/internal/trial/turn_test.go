package trial_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/trial"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

func TestReplyIsOnStdoutAndEverythingElseBesideIt(t *testing.T) {
	got := say(t, agent(t, profile.Bridge, `read -r turn
echo "loading" >&2
printf '{"type":"partial","role":"thinking","text":"hm"}\n'
printf '{"type":"partial","text":"one ","session_id":"s 1"}\n'
echo "not an event"
printf '{"type":"partial","text":"two"}\n'
printf '{"type":"result","text":"one two","usage":{"output_tokens":2}}\n'
printf '{"type":"result","text":"again"}\n'
printf "half a line" >&2
`), "hello")
	if got.out != "one two\n" || got.ExitCode != 0 || got.SessionID != "s 1" {
		t.Errorf("stdout %q, %+v", got.out, got.Result)
	}
	mustHold(t, got.err, "stderr  │ loading\n", "warning │ not an event (not_json): not an event\n", "warning │ second_result\n",
		"stderr  │ half a line\n", "session │ s 1 (go on with: try --session 's 1')\n", `usage   │ {"output_tokens":2}`, "done    │ after ")
	if strings.Contains(got.err+got.out, "hm") {
		t.Error("reasoning is shown where there is no terminal")
	}
}

func TestExitCodeIsThatOfTheTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		code   int
		fault  fault.Code
	}{
		"success":                               {`printf '{"type":"result","text":"x"}\n'`, 0, ""},
		"an error event fails whatever follows": {`printf '{"type":"error","message":"no luck"}\n'; exit 0`, 1, fault.AgentError},
		"an error event counts before the code": {`printf '{"type":"error","message":"no luck"}\n'; exit 7`, 1, fault.AgentError},
		"the process's own":                     {`exit 7`, 7, fault.AgentExited},
		"a limit counts before an error event":  {`printf '{"type":"error","message":"no luck"}\n'; exec sleep 1000`, 124, fault.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := agent(t, profile.Bridge, "read -r turn; "+tt.script)
			if tt.code == bridge.ExitTimeout {
				a.Profile.Timeout = 300 * time.Millisecond
			}
			if got := say(t, a, "hello"); got.ExitCode != tt.code || got.Code != tt.fault {
				t.Errorf("%+v\n%s", got.Result, got.err)
			}
		})
	}
}

// stopAtFirstWord stops a turn from outside as soon as the agent speaks.
type stopAtFirstWord struct {
	trial.Screen
	stop func()
}

func (s *stopAtFirstWord) Said(run.AgentEvent) { s.stop() }

func TestStopEndsTheAgentAndSaysWhichSignalItWas(t *testing.T) {
	for cause, want := range map[string]int{"interrupt signal received": 130, "terminated signal received": 143} {
		ctx, stop := context.WithCancelCause(t.Context())
		witness := &stopAtFirstWord{stop: func() { stop(errors.New(cause)) }}
		witness.Out, witness.Err = &syncBuilder{}, &syncBuilder{}
		a := agent(t, profile.Bridge, `read -r turn; printf '{"type":"partial","text":"x"}\n'; sleep 1000`)
		got, err := a.Play(ctx, host, bridge.Turn{Message: "hello"}, trial.Nobody{}, witness)
		if err != nil || got.ExitCode != want || got.Code != "cancelled" {
			t.Errorf("%s: %+v, %v", cause, got, err)
		}
	}
}

func TestWhatIsLeftRunningIsEndedAndTold(t *testing.T) {
	for sleepers, want := range map[string]string{
		"sleep 1000 &":               "the agent left a process running; it was ended",
		"sleep 1000 & sleep 1000 & ": "the agent left 2 processes running; they were ended",
	} {
		script := `read -r turn; { ` + sleepers + ` } >/dev/null 2>&1; printf '{"type":"result","text":"x"}\n'`
		mustHold(t, say(t, agent(t, profile.Bridge, script), "hello").err, want)
	}
}

func TestTurnThatCannotBePlayedIsAnError(t *testing.T) {
	if _, err := agent(t, profile.Bridge, "true").Play(t.Context(), host, bridge.Turn{}, nil, nil); !errors.Is(err, trial.ErrEmptyTurn) {
		t.Errorf("empty: %v", err)
	}
	a := agent(t, profile.Bridge, "true")
	a.Profile.Command = "no-such-agent"
	if _, err := a.Play(t.Context(), host, bridge.Turn{Message: "x"}, nil, &trial.Screen{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no program: %v", err)
	}
	a.Profile.Runtime = "other"
	if _, err := a.Play(t.Context(), host, bridge.Turn{Message: "x"}, nil, nil); err == nil || !strings.Contains(err.Error(), "other") {
		t.Errorf("no runtime: %v", err)
	}
}

func TestPlaceholdersAndWarningsOfTheProfileAreSeen(t *testing.T) {
	a := agent(t, profile.Bridge, `read -r turn; printf '{"type":"result","text":"%s in %s"}\n' "$SESSION" "$PWD"`)
	a.Profile.Env = map[string]string{"SESSION": "{{SESSION_ID}}", "SECRET": "${NOT_ALLOWED}"}
	a.Profile.EnvAllowlist = []string{}
	got := play(t.Context(), t, a, bridge.Turn{Message: "x", SessionID: "s-1"}, trial.Nobody{})
	if got.out != "s-1 in "+a.Dir+"\n" {
		t.Errorf("stdout %q", got.out)
	}
	mustHold(t, got.err, "warning │ env.SECRET: ${NOT_ALLOWED} is not in env_allowlist")
}

func TestEventsAgentShowsWhatItDoes(t *testing.T) {
	got := say(t, agent(t, profile.Events, `read -r turn
printf '{"type":"session_init","session_id":"s-1"}\n{"type":"state_change","state":"reading"}\n'
printf '{"type":"tool_call","tool_call_id":"1","tool_name":"ls","tool_args":{}}\n{"type":"tool_result","tool_call_id":"1","tool_name":"ls"}\n'
printf '{"type":"tool_call","tool_name":"rm"}\n{"type":"tool_result","tool_name":"rm","error":{"code":"no","message":"Not here."}}\n'
echo x > a.md
printf '{"type":"artifact","artifact":{"path":"a.md"}}\n{"type":"artifact","artifact":{"path":"b.md"}}\n'
printf '{"type":"run.agent.todo","payload":{}}\n{"type":"partial","text":"all"}\n{"type":"result","usage":{"output_tokens":1}}\n'
`), "hello")
	if got.out != "all\n" || got.ExitCode != 0 || got.SessionID != "s-1" || string(got.Usage) != `{"output_tokens":1}` {
		t.Errorf("stdout %q, %+v", got.out, got.Result)
	}
	mustHold(t, got.err, "state   │ reading", "tool    │ ls {}", "tool    │ ls done", "tool    │ rm failed: Not here.", "file    │ a.md, 2 bytes",
		`artifact failed: There is no file "b.md"`, "fact    │ run.agent.todo")
}

func TestEventsAgentHasTheExitCodesOfABridgeAgent(t *testing.T) {
	for script, want := range map[string]int{
		`printf '{"type":"done","answer":"x"}\n'`:               0,
		`printf '{"type":"error","error_code":"rate_limit"}\n'`: 1,
		`true`: 1, // silence is no success
		`printf '{"type":"done","answer":"x"}\n'; exit 7`:                      7,
		`printf '{"type":"error","error_message":"x"}\n'; exec sleep 1000 # t`: 124,
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			a := agent(t, profile.Events, "read -r turn; "+script)
			if strings.HasSuffix(script, "t") {
				a.Profile.Timeout = 300 * time.Millisecond
			}
			if got := say(t, a, "hello"); got.ExitCode != want {
				t.Errorf("%+v", got.Result)
			}
		})
	}
}
