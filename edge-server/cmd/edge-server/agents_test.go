package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/edge"
	"github.com/switchyard-dev/switchyard/edge-server/internal/localapi"
)

// profiles writes a folder of them: a good one, one with a warning, a bad one.
func profiles(t *testing.T) (folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "profiles")
	for name, content := range map[string]string{
		"good.yaml": "command: sh\n", "odd.yaml": "command: sh\npublic_env: [A]\n", "bad.yaml": "command: [x]\ntimeout_secs: soon\ncolour: red\n", "note.txt": "",
	} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestProfileCheckNamesEveryFaultAndItsPlace(t *testing.T) {
	folder := profiles(t)
	in := func(name string) string { return filepath.Join(folder, name) }
	bad := []string{"bad.yaml:1:10: error: command must", "bad.yaml:2:15: error: timeout_secs", "bad.yaml:3:1: error: unknown field colour"}
	good, odd := in("good.yaml")+": agent good, runtime bridge", "odd.yaml:2:1: warning: public_env"
	for name, tt := range map[string]struct {
		args   []string
		code   int
		stdout []string
	}{
		"good":         {[]string{in("good.yaml")}, 0, []string{good, "command     sh", "profiles: 1, errors: 0, warnings: 0"}},
		"warning":      {[]string{in("odd.yaml")}, 0, []string{odd, "agent odd", "profiles: 1, errors: 0, warnings: 1"}},
		"bad":          {[]string{in("bad.yaml")}, 1, append([]string{"profiles: 1, errors: 3, warnings: 0"}, bad...)},
		"not there":    {[]string{in("none.yaml")}, 1, []string{"none.yaml: error: the file cannot be read: no such file or directory"}},
		"several":      {[]string{in("good.yaml"), in("odd.yaml")}, 0, []string{good, odd, "profiles: 2, errors: 0, warnings: 1"}},
		"folder":       {[]string{folder}, 1, append([]string{good, odd, "profiles: 3, errors: 3, warnings: 1"}, bad...)},
		"folder twice": {[]string{folder, in("good.yaml")}, 1, []string{"profiles: 4, errors: 3, warnings: 1"}},
		"home":         {nil, 1, []string{good, "profiles: 3, errors: 3, warnings: 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("EDGE_HOME", filepath.Dir(folder))
			code, out, errs := command(t, "", append([]string{"profile", "check"}, tt.args...)...)
			if code != tt.code || (code == 1) != strings.Contains(errs, "not every profile can be used") {
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

func TestProfileSchemaIsPrinted(t *testing.T) {
	if code, out, _ := command(t, "", "profile", "schema"); code != 0 || !strings.Contains(out, `"permission_policy"`) {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestHealthShowsEveryFaultyProfile(t *testing.T) {
	var out strings.Builder
	err := printHealth(&out, edge.Health{Profiles: localapi.Profiles{Offered: []string{"mine", "scout"}, Faulty: []localapi.FaultyProfile{
		{File: "/p/bad.yaml", Problems: []string{"line 1: error: no", "line 2: error: neither"}}, {File: "/p/mine.yaml", Problems: []string{"error: no"}, Kept: true},
	}}})
	want := "agents: mine, scout\n/p/bad.yaml is not used:\n  line 1: error: no\n  line 2: error: neither\n" +
		"/p/mine.yaml is not used; its version before still is:\n  error: no\n"
	if err != nil || !strings.HasSuffix(out.String(), want) {
		t.Errorf("got %v\n%s", err, out.String())
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
