package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProfileCheckNamesEveryFaultAndItsLine(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"good.yaml": "command: python3\n", "odd.yaml": "command: x\ncolour: red\n", "bad.yaml": "command: [x]\ntimeout_secs: soon\n",
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		code   int
		stdout []string
		stderr string
	}{
		"good.yaml": {0, []string{"good.yaml: agent good, runtime bridge"}, ""},
		"odd.yaml":  {0, []string{"odd.yaml: line 2: warning: unknown field colour", "agent odd"}, ""},
		"bad.yaml":  {1, []string{"bad.yaml: line 1: error: command", "bad.yaml: line 2: error: timeout_secs"}, "cannot be used"},
		"none.yaml": {1, nil, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := command(t, "", "profile", "check", filepath.Join(dir, name))
			if code != tt.code || !strings.Contains(errs, tt.stderr) {
				t.Errorf("exit code %d, stderr:\n%s", code, errs)
			}
			for _, want := range tt.stdout {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
		})
	}
}

func TestBuiltInAgentsAnswerOneTurn(t *testing.T) {
	t.Chdir(t.TempDir())
	turn := `{"type":"turn","message":"hello","session_id":"","protocol_version":"0.4"}` + "\n"
	code, out, errs := command(t, turn, "builtin", "scout")
	if code != 0 || !strings.Contains(out, `{"type":"done"`) {
		t.Errorf("scout: exit code %d\n%s\n%s", code, out, errs)
	}
	t.Setenv("OPENAI_MODEL", "")
	code, out, errs = command(t, turn, "builtin", "chat")
	if code != 0 || !strings.Contains(out, "Set OPENAI_MODEL") {
		t.Errorf("chat: exit code %d\n%s\n%s", code, out, errs)
	}
	if code, _, errs := command(t, "no turn\n", "builtin", "scout"); code != 1 || !strings.Contains(errs, "read turn") {
		t.Errorf("garbage: exit code %d\n%s", code, errs)
	}
}

func command(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	p := program{ctx: context.Background(), environ: os.Environ(), stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs}
	code = p.run(args)
	return code, out.String(), errs.String()
}
