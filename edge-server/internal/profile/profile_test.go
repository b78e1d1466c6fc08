package profile

import (
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const full = `# an agent
command: python3
args: ["{{PROFILE_DIR}}/my_agent.py", --port, 8080]
cwd: work space
env:
  MY_API_KEY: "${MY_API_KEY}"
  DEBUG: true
env_allowlist: [MY_API_KEY]
timeout_secs: 600
kill_grace_secs: 0.5
streaming: false
permission: true
runtime: events
description: My own agent
public_env:
  - DEBUG
permission_policy: allow-readonly
readonly_tools: [Read, Search]
max_runs: 3
controls: [steer, thinking_level]
`

func TestEveryFieldIsRead(t *testing.T) {
	want := Profile{
		Name: "mine", Runtime: Events, Description: "My own agent",
		Command: "python3", Args: []string{"{{PROFILE_DIR}}/my_agent.py", "--port", "8080"}, Cwd: "work space",
		Env: map[string]string{"MY_API_KEY": "${MY_API_KEY}", "DEBUG": "true"}, EnvAllowlist: []string{"MY_API_KEY"},
		PublicEnv: []string{"DEBUG"}, Timeout: 600 * time.Second, Grace: 500 * time.Millisecond, Permission: true, Dir: "/p",
		Policy: AllowReadonly, ReadonlyTools: []string{"Read", "Search"}, MaxRuns: 3, Controls: []string{"steer", "thinking_level"},
	}
	wrapped := "agentproc:\n  " + strings.ReplaceAll(strings.TrimSpace(full), "\n", "\n  ")
	for _, file := range []string{full, wrapped, strings.ReplaceAll(full, "\n", "\r\n")} {
		got, problems := Parse([]byte(file), "mine", "/p")
		if len(problems) > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v\nproblems %v", got, problems)
		}
	}
}

func TestControlsAreWordsThatThereAreAndForTheEventsRuntime(t *testing.T) {
	for file, want := range map[string]string{
		"command: a\nruntime: events\ncontrols: [steer, compact]": "",
		"command: a\ncontrols: []":                                "",
		"executor: chat\ncontrols: [compact]":                     "",
		"command: a\nruntime: events\ncontrols: [stear]":          `line 3: error: controls: "stear" is none of steer retry_now compact thinking_level, did you mean steer?`,
		"command: a\nruntime: events\ncontrols: steer":            "line 3: error: controls must be a list such as [a, b]",
		"command: a\ncontrols: [steer]":                           "line 2: error: controls are for agents that say runtime: events; the bridge protocol has no words for them",
		"executor: scout\nruntime: bridge\ncontrols: [retry_now]": "line 3: error: controls are for agents that say runtime: events; the bridge protocol has no words for them",
	} {
		p, problems := Parse([]byte(file), "a", "/p")
		if got := problems.String(); !strings.Contains(got, want) || (want == "") != (len(problems) == 0) {
			t.Errorf("%q: %s", file, got)
		}
		if want == "" && p.Takes("compact") != strings.Contains(file, "compact") {
			t.Errorf("%q takes %v", file, p.Controls)
		}
	}
	for executor, want := range map[string]bool{Scout: false, Chat: true} {
		if p, _ := Parse([]byte("executor: "+executor), "a", "/p"); !p.Takes("steer") || p.Takes("compact") != want {
			t.Errorf("%s takes %v", executor, p.Controls)
		}
	}
}

func TestDefaultsAreThoseOfTheProtocol(t *testing.T) {
	got, problems := Parse([]byte("command: /path with spaces/my agent"), "a", "/p")
	want := Profile{
		Name: "a", Runtime: Bridge, Command: "/path with spaces/my agent", Timeout: 1800 * time.Second, Grace: 5 * time.Second,
		Streaming: true, Policy: Ask, Dir: "/p",
	}
	if len(problems) > 0 || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, problems %v", got, problems)
	}
}

func TestZeroAndNegativeTimeoutMeanNone(t *testing.T) {
	for _, value := range []string{"0", "-1", "0.0"} {
		if got, problems := Parse([]byte("command: x\ntimeout_secs: "+value), "a", "/p"); got.Timeout != 0 || len(problems) > 0 {
			t.Errorf("%s: %v, %v", value, got.Timeout, problems)
		}
	}
}

func TestEveryFaultIsReportedWithItsLine(t *testing.T) {
	file := `command: [a, b]
args: one
timeout_secs: soon
streaming: "yes"
env:
  "A=B": x
  LIST: [1]
runtime: telnet
mystery: 1
cwd:
description: {{x}}
permission_policy: deny
max_runs: 0
timout-secs: 5
x-note: {for: others}
args: [b]
env_allowlist: [A, B-C]
public_env: [NOT_THERE]
`
	_, problems := Parse([]byte(strings.ReplaceAll(file, "{{x}}", `"{{MESSAGE}}"`)), "a", "/p")
	want := []string{
		"line 1: error: command must be a single value (anchors, tags and nested values are not supported)",
		"line 2: error: args must be a list such as [a, b]",
		"line 3: error: timeout_secs must be a number of seconds",
		"line 4: error: streaming must be true or false",
		`line 6: error: "A=B" cannot name an environment variable`,
		"line 7: error: env.LIST must be a single value (anchors, tags and nested values are not supported)",
		"line 8: error: runtime must be bridge or events",
		"line 9: error: unknown field mystery",
		"line 10: warning: cwd has no value and is ignored",
		"line 11: warning: {{MESSAGE}} is not a placeholder and stays as it is",
		"line 12: error: permission_policy must be ask or allow-readonly or allow-all or deny-all",
		"line 13: error: max_runs must be a whole number, 1 or more",
		"line 14: error: unknown field timout-secs, did you mean timeout_secs?",
		"line 16: error: args is given twice",
		`line 17: error: env_allowlist: "B-C" is no name of a variable: letters, digits and _, not a digit first`,
		"line 18: warning: public_env names NOT_THERE, which is not in env",
	}
	if got := strings.Split(problems.String(), "; "); !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestWhatIsNoProfileIsRefused(t *testing.T) {
	cases := map[string]string{
		"empty":            "",
		"list":             "- a\n- b\n",
		"text":             "hello",
		"two documents":    "command: a\n---\ncommand: b\n",
		"broken":           "command: \"a\nargs: [",
		"same key twice":   "command: a\ncommand: b\n",
		"no command":       "args: [a]\n",
		"unknown executor": "executor: nobody\n",
		"empty command":    "command: \"\"\n",
		"alias":            "env: &e {A: b}\nargs: *e\ncommand: x\n",
		"too large":        "command: " + strings.Repeat("x", maxFile),
		"typo":             "command: x\npermision: true\n",
		"beside wrapper":   "agentproc: {command: x}\nargs: [a]\n",
		"wrapper of text":  "agentproc: x\ncommand: y\n",
		"wrapper twice":    "agentproc: {command: x}\nagentproc: {command: y}\n",
		"variable twice":   "command: x\nenv: {A: b, A: c}\n",
		"blank in a name":  "command: x\nenv: {\"A B\": c}\n",
	}
	for name, file := range cases {
		if _, problems := Parse([]byte(file), "a", "/p"); !problems.Faulty() {
			t.Errorf("%s: accepted (%v)", name, problems)
		}
	}
	for _, name := range []Name{"", "A", "a b", "../a", "-a", Name(strings.Repeat("a", 65))} {
		if _, problems := Parse([]byte("command: x"), name, "/p"); !problems.Faulty() {
			t.Errorf("accepted the name %q", name)
		}
	}
}

func TestExecutors(t *testing.T) {
	known, problems := Parse([]byte("executor: scout\nargs: [--pace, 5ms]\n"), "a", "/p")
	launch := known.Launch(Turn{}, Edge{Program: "/bin/edge", Lookup: lookupIn(nil)})
	if len(problems) > 0 || known.Runtime != Events || !slices.Equal(launch.Argv, []string{"/bin/edge", "builtin", "scout", "--pace", "5ms"}) {
		t.Errorf("known: %v, %v, %q", problems, known.Runtime, launch.Argv)
	}
	unknown, problems := Parse([]byte("executor: hermes\ncommand: hermes\n"), "a", "/p")
	if problems.Faulty() || len(problems) != 1 || unknown.Runtime != Bridge {
		t.Errorf("unknown with a command: %v", problems)
	}
}

func TestLaunchExpandsOnceAndKeepsForeignTextLiteral(t *testing.T) {
	p := Profile{
		Command: "~/bin/agent", Cwd: "{{SESSION_NAME}}", Dir: "/p",
		Args: []string{"--resume={{SESSION_ID}}", "${KEY}", "$(id)", "{{PROFILE_DIR}}/x", "{{OTHER}}"},
		Env: map[string]string{
			"A": "${KEY}-{{SESSION_NAME}}", "B": "${NONE}", "C": "${BLOCKED}", "D": "${SNEAKY}", "E_TOKEN": "literal secret", "F": "literal text",
			"G": "${KEY}",
		},
		EnvAllowlist: []string{"KEY", "NONE", "SNEAKY"}, PublicEnv: []string{"D"},
	}
	env := map[string]string{"HOME": "/home/me", "KEY": "sk-123456", "BLOCKED": "no no no", "SNEAKY": "{{PROFILE_DIR}}${KEY}"}
	got := p.Launch(Turn{SessionID: "s\x00:1", SessionName: "${KEY} {{SESSION_ID}}"}, Edge{Lookup: lookupIn(env)})
	wantArgv := []string{"/home/me/bin/agent", "--resume=s:1", "${KEY}", "$(id)", "/p/x", "{{OTHER}}"}
	wantEnv := map[string]string{
		"A": "sk-123456-${KEY} {{SESSION_ID}}", "B": "", "C": "", "D": "{{PROFILE_DIR}}${KEY}", "E_TOKEN": "literal secret", "F": "literal text",
		"G": "sk-123456",
	}
	if !slices.Equal(got.Argv, wantArgv) || !maps.Equal(got.Env, wantEnv) || got.Dir != "/p/${KEY} {{SESSION_ID}}" {
		t.Errorf("got %+v", got)
	}
	if want := []string{"literal secret", "sk-123456", wantEnv["A"]}; !slices.Equal(got.Secrets, want) {
		t.Errorf("secrets %q", got.Secrets)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "BLOCKED") {
		t.Errorf("warnings %q", got.Warnings)
	}
}

func lookupIn(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

func TestChatIsOfferedOnlyWithSomethingToTalkTo(t *testing.T) {
	cases := []struct {
		env     map[string]string
		offered bool
	}{
		{nil, false},
		{map[string]string{ChatKey: "sk-1"}, false},
		{map[string]string{ChatModel: "m"}, false},
		{map[string]string{ChatModel: "m", ChatKey: "sk-1"}, true},
		{map[string]string{ChatModel: "m", ChatBaseURL: "http://127.0.0.1:11434/v1"}, true},
	}
	for _, c := range cases {
		l, err := Open(filepath.Join(t.TempDir(), "none"), Edge{Lookup: lookupIn(c.env)}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if _, offered := l.Find(Chat); offered != c.offered {
			t.Errorf("%v: offered %v", c.env, offered)
		}
	}
	chat := builtins(lookupIn(cases[3].env))[1]
	launch := chat.Launch(Turn{}, Edge{Lookup: lookupIn(map[string]string{ChatModel: "a-model-name", ChatKey: "sk-secret-1"})})
	if !slices.Equal(launch.Secrets, []string{"sk-secret-1"}) {
		t.Errorf("secrets %q", launch.Secrets)
	}
}

func FuzzParseReportsEveryFaultAndNeverPanics(f *testing.F) {
	for _, seed := range []string{full, "agentproc:\n  command: x\n", "a: &b [*b]\n", "? x\n: y\n", "command: |\n  text\n", "<<: {command: x}\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, problems := Parse(data, "a", "/p")
		if !problems.Faulty() && p.Command == "" && p.Executor == "" {
			t.Fatalf("a profile that starts nothing: %+v", p)
		}
	})
}
