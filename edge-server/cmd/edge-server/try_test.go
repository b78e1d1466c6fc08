package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const echoes = `read -r turn; printf '%s\n' "$turn" >&2; printf '{"type":"result","text":"heard"}\n'`

// asks is an agent of the events runtime that repeats what it is told.
const asks = `read -r turn; printf '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{}}\n'; read -r answer
echo "$answer" >&2; printf '{"type":"done","answer":"heard"}\n'`

// calls is an agent that has a client's tool carried out, and repeats what comes of it.
const calls = `read -r turn; printf '{"type":"tool_call","target":"client","tool_call_id":"1","tool_name":"open_url","tool_args":{"url":"x"}}\n'; read -r result
echo "$result" >&2; printf '{"type":"done","answer":"opened"}\n'`

func TestBridgeRunPlaysATurn(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, tt := range map[string]struct {
		stdin string
		args  []string
		code  int
		want  string // in stdout or stderr
	}{
		"words":               {"", []string{"bridge", "run", "two", "words", "--", "sh", "-c", echoes}, 0, `"message":"two words"`},
		"message":             {"", []string{"bridge", "run", "--message", "hi", "--session", "s", "--session-name", "n", "--", "sh", "-c", echoes}, 0, `"session_id":"s","session_name":"n"`},
		"stdin":               {"from a pipe\n", []string{"bridge", "run", "--", "sh", "-c", echoes}, 0, `"message":"from a pipe"`},
		"attachment alone":    {"not read", []string{"bridge", "run", "--attach", "https://example.org/a,b.png", "--", "sh", "-c", echoes}, 0, `"message":"","session_id":"","session_name":"default","attachments":[{"kind":"image"`},
		"permission":          {"", []string{"bridge", "run", "x", "--policy", "deny-all", "--", "sh", "-c", echoes}, 0, `"permission":true`},
		"arguments with a --": {"", []string{"bridge", "run", "x", "--", "sh", "-c", `printf '{"type":"result","text":"%s"}\n' "$*"`, "sh", "--", "y"}, 0, "-- y"},
		"code of the process": {"", []string{"bridge", "run", "x", "--", "sh", "-c", "exit 7"}, 7, "exit code 7"},
		"code of the limit":   {"", []string{"bridge", "run", "x", "--timeout", "300ms", "--", "sleep", "1000"}, 124, "timeout"},
		"no such program":     {"", []string{"bridge", "run", "x", "--", "no-such-agent"}, 1, "there is no such program"},
		"no agent":            {"", []string{"bridge", "run", "x"}, 1, "Put its command behind --"},
		"nothing to say":      {"", []string{"bridge", "run", "--", "sh", "-c", echoes}, 1, "nothing to say"},
		"two messages":        {"", []string{"bridge", "run", "x", "--message", "y", "--", "sh", "-c", echoes}, 1, "not both"},
		"no such policy":      {"", []string{"bridge", "run", "x", "--policy", "maybe", "--", "true"}, 2, "--policy"},
		"events":              {"", []string{"events", "run", "x", "--", "sh", "-c", `printf '{"type":"done","answer":"all"}\n'`}, 0, "all"},
		"events that ask":     {"", []string{"events", "run", "x", "--policy", "deny-all", "--", "sh", "-c", asks}, 0, `"behavior":"deny","message":"The policy allows no tool that asks."}`},
		"tools of clients": {"", []string{"events", "run", "x", "--client-tool", "open_url=cat", "--client-tool", "b=true", "--", "sh", "-c", calls}, 0,
			`{"type":"tool_result","tool_call_id":"1","tool_name":"open_url","status":"ok","output":{"url":"x"}}`},
		"a turn that only compacts": {"not read", []string{"events", "run", "--compact", "--session", "s", "--thinking-level", "high", "--", "sh", "-c", echoes}, 0,
			`"message":"","session_id":"s","session_name":"default","compact":true,"thinking_level":"high"`},
		"controls":                         {"", []string{"events", "run", "x", "--control", "steer", "--control", "compact", "--", "sh", "-c", echoes}, 0, "heard"},
		"no such control":                  {"", []string{"events", "run", "x", "--control", "dance", "--", "true"}, 2, "--control"},
		"controls are for events":          {"", []string{"bridge", "check", "--control", "steer", "--", "true"}, 2, "unknown flag"},
		"a tool without a command":         {"", []string{"events", "run", "x", "--client-tool", "open_url=", "--", "sh", "-c", calls}, 1, "write NAME=COMMAND"},
		"two tools of one name":            {"", []string{"events", "run", "x", "--client-tool", "a=true", "--client-tool", "a=true", "--", "sh", "-c", calls}, 1, "another one has its name"},
		"a check of a tool that cannot be": {"", []string{"events", "check", "--client-tool", "a b", "--", "sh", "-c", calls}, 1, "its name has 1 to 64 letters"},
		"tools are for events":             {"", []string{"bridge", "run", "x", "--client-tool", "a=true", "--", "sh", "-c", calls}, 2, "unknown flag"},
		"events need an end":               {"", []string{"events", "run", "x", "--", "true"}, 1, "without saying that it was done"},
		"nothing behind other":             {"", []string{"version", "--", "x"}, 2, "unexpected argument"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := command(t, tt.stdin, tt.args...)
			if code != tt.code || !strings.Contains(out+errs, tt.want) {
				t.Errorf("exit code %d, want %d, and %q in\nstdout:\n%s\nstderr:\n%s", code, tt.code, tt.want, out, errs)
			}
		})
	}
}

func TestBridgeRunStartsWhatAProfileSays(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("agent.sh", `read -r turn; printf '{"type":"partial","text":"%s"}\n{"type":"result","text":""}\n' "$GREETING"`)
	good := write("good.yaml", "command: sh\nargs: ['{{PROFILE_DIR}}/agent.sh']\nenv: {GREETING: hello}\n")
	if code, out, errs := command(t, "", "bridge", "run", "x", "--profile", good); code != 0 || out != "hello\n" {
		t.Errorf("exit code %d, %q\n%s", code, out, errs)
	}
	if code, out, errs := command(t, "", "bridge", "run", "x", "--no-streaming", "--profile", good); code != 0 || out != "" {
		t.Errorf("without streaming: exit code %d, %q\n%s", code, out, errs)
	}
	for file, want := range map[string]string{
		write("bad.yaml", "command: [x]\n"):                        "cannot be used",
		write("events.yaml", "command: 'true'\nruntime: events\n"): "edge-server events",
		filepath.Join(dir, "gone.yaml"):                            "no such file",
	} {
		if code, _, errs := command(t, "", "bridge", "run", "x", "--profile", file); code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d\n%s", file, code, errs)
		}
	}
	if code, _, _ := command(t, "", "bridge", "run", "x", "--profile", good, "--", "true"); code != 1 {
		t.Errorf("a profile and a command: exit code %d", code)
	}
}

func TestBridgeCheckFailsForAnAgentThatBreaksARule(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, errs := command(t, "", "bridge", "check", "--skip", "large", "--", "sh", "-c", echoes)
	if code != 0 || !strings.Contains(out, "0 failed") || !strings.Contains(out, "turn.large                not applicable  not tried") {
		t.Errorf("a good agent: exit code %d\n%s\n%s", code, out, errs)
	}
	code, out, _ = command(t, "", "bridge", "check", "--", "sh", "-c", "echo hello; "+echoes)
	if code != 1 || !strings.Contains(out, "stdout.only-events        failed          plain: this is no JSON object: \"hello\"") {
		t.Errorf("one that greets: exit code %d\n%s", code, out)
	}
	aside := `read -r turn; printf '{"type":"partial","text":"x","role":"aside"}\n'`
	if code, out, _ = command(t, "", "bridge", "check", "--", "sh", "-c", aside); code != 0 || !strings.Contains(out, "1 warned") {
		t.Errorf("one with a role of its own: exit code %d\n%s", code, out)
	}
	if code, _, _ = command(t, "", "bridge", "check", "--strict", "--", "sh", "-c", aside); code != 1 {
		t.Errorf("the same, strictly: exit code %d", code)
	}
	if code, _, errs = command(t, "", "bridge", "check", "--skip", "everything", "--", "true"); code != 1 || !strings.Contains(errs, "unicode") {
		t.Errorf("an unknown probe: exit code %d\n%s", code, errs)
	}
}

func TestAgentOfAProfileIsCheckedInAFolderOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := filepath.Join(dir, "writer.yaml")
	script := `command: sh` + "\n" + `args: ["-c", 'read -r turn; echo x >left-behind; printf "{\"type\":\"result\",\"text\":\"x\"}\n"']` + "\n"
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := command(t, "", "bridge", "check", "--skip", "large", "--profile", file); code != 0 || strings.Contains(errs, "new in") {
		t.Errorf("exit code %d\n%s\n%s", code, out, errs)
	}
	if _, err := os.Stat(filepath.Join(dir, "left-behind")); !os.IsNotExist(err) {
		t.Errorf("the agent worked here: %v", err)
	}
}

func TestCheckSaysWhatTheAgentOfACommandLeavesInTheFolder(t *testing.T) {
	for name, tt := range map[string]struct{ leaves, want string }{
		"nothing":        {`true`, ""},
		"an old file":    {`touch old`, ""},
		"a file":         {`touch new`, `since the check began: "new"`},
		"a lot of files": {`touch a b c d e`, `since the check began: 5 files or folders, "a", "b", "c" and 2 more`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			if err := os.WriteFile(filepath.Join(dir, "old"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			code, _, errs := command(t, "", "bridge", "check", "--skip", "large", "--", "sh", "-c", tt.leaves+"; "+echoes)
			if code != 0 || strings.Contains(errs, "new in") != (tt.want != "") || !strings.Contains(errs, tt.want) {
				t.Errorf("exit code %d, want %q in:\n%s", code, tt.want, errs)
			}
		})
	}
}

func TestEventsCheckWritesAReportForPrograms(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, errs := command(t, "", "events", "check", "--json", "--", "sh", "-c", `read -r turn; printf '{"type":"delta","content":"x"}\n'`)
	var report struct {
		OK      bool
		Runtime string
		Failed  int
		Rules   []struct{ ID, Status, Reason string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 1 {
		t.Fatalf("exit code %d, %v\n%s\n%s", code, err, out, errs)
	}
	if report.OK || report.Runtime != "events" || report.Failed != 2 || len(report.Rules) < 30 {
		t.Errorf("%+v", report)
	}
}

func TestEventsCheckPlaysTheTurnsAboutPermission(t *testing.T) {
	t.Chdir(t.TempDir())
	careless := `read -r turn; case $turn in *'"permission":true'*) printf '{"type":"permission_request","request_id":"1","input":{}}\n' ;; esac
printf '{"type":"done","answer":"x"}\n'`
	if code, out, errs := command(t, "", "events", "check", "--skip", "large", "--", "sh", "-c", careless); code != 0 {
		t.Errorf("without --permission: exit code %d\n%s\n%s", code, out, errs)
	}
	code, out, _ := command(t, "", "events", "check", "--skip", "large", "--permission", "--", "sh", "-c", careless)
	for _, rule := range []string{"permission.tool           failed", "permission.waits          failed"} {
		if code != 1 || !strings.Contains(out, rule) {
			t.Errorf("exit code %d, no %q in\n%s", code, rule, out)
		}
	}
}

func TestHelpOfTheTrialsHasExamples(t *testing.T) {
	for _, args := range [][]string{{"bridge", "run"}, {"bridge", "check"}, {"events", "run"}, {"events", "check"}} {
		if code, out, _ := command(t, "", append(args, "--help")...); code != 0 || !strings.Contains(out, "Examples:") {
			t.Errorf("%v: exit code %d\n%s", args, code, out)
		}
	}
}
