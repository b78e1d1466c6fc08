package profile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatThisMachineLacksIsAWarning(t *testing.T) {
	folder, elsewhere := t.TempDir(), t.TempDir()
	for name, mode := range map[string]os.FileMode{"agent": 0o700, "plain": 0o600} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	edge := Edge{Lookup: lookupIn(map[string]string{"PATH": elsewhere + ":" + folder + ":.", "HOME": folder})}
	for name, tt := range map[string]struct{ file, want string }{
		"bare name in PATH":            {"command: agent", ""},
		"bare name in no PATH":         {"command: nobody", "command nobody is a program in no folder of PATH"},
		"bare name that is no program": {"command: plain", "command plain is a program in no folder of PATH"},
		"PATH of its own":              {"command: agent\nenv: {PATH: /nowhere}", "command agent is a program in no folder of PATH"},
		"in the profile's folder":      {`command: "{{PROFILE_DIR}}/agent"`, ""},
		"not there":                    {`command: "{{PROFILE_DIR}}/none"`, "cannot be used: " + folder + "/none: no such file or directory"},
		"not executable":               {`command: "{{PROFILE_DIR}}/plain"`, folder + "/plain is not executable"},
		"a folder":                     {`command: "{{PROFILE_DIR}}/work"`, folder + "/work is no file"},
		"in the home folder":           {"command: ~/agent", ""},
		"relative to cwd":              {"command: ./agent\ncwd: .", ""},
		"relative to another cwd":      {"command: ./agent\ncwd: work", folder + "/work/agent: no such file"},
		"relative to an empty folder":  {"command: ./agent", "write {{PROFILE_DIR}}/agent"},
		"of the conversation":          {`command: "/bin/{{SESSION_NAME}}"`, ""},
		"cwd relative to the profile":  {"command: agent\ncwd: work", ""},
		"cwd that is not there":        {"command: agent\ncwd: none", "cwd " + folder + "/none is no folder of this machine"},
		"cwd of the conversation":      {`command: ./none` + "\n" + `cwd: "{{SESSION_NAME}}"`, ""},
		"executor":                     {"executor: scout", ""},
		"variable that is kept back":   {"command: agent\nenv: {A: \"${B}\"}\nenv_allowlist: []", "${B} is not in env_allowlist"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(folder, "a.yaml")
			if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got := ReadFile(path, edge).Problems
			if got.Faulty() || (tt.want == "") != (len(got) == 0) || !strings.Contains(got.String(), tt.want) {
				t.Errorf("got %v, want %q", got, tt.want)
			}
			if len(got) > 0 && got[0].Line == 0 {
				t.Errorf("%v has no line", got)
			}
		})
	}
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	if got := ReadFile(os.DevNull, Edge{}).Problems; !got.Faulty() || !strings.Contains(got.String(), "no regular file") {
		t.Errorf("a device: %v", got)
	}
}

func TestSummarySaysWhatIsStartedWhereAndWhoIsAsked(t *testing.T) {
	edge := Edge{Program: "/bin/edge", Lookup: lookupIn(nil)}
	for name, tt := range map[string]struct{ file, want string }{
		"all": {
			"command: /a b/c\nargs: [\"\", \"{{SESSION_ID}}\"]\ncwd: w\npermission: true\npermission_policy: allow-readonly\nreadonly_tools: [R, S]\nmax_runs: 2",
			"agent all, runtime bridge\n  command     \"/a b/c\" \"\" {{SESSION_ID}}\n  cwd         /p/w\n  permission  allow-readonly (R S)\n  max_runs    2",
		},
		"least": {
			"executor: scout",
			"agent least, runtime events\n  command     /bin/edge builtin scout\n  cwd         a folder of the agent's own per conversation\n" +
				"  permission  not asked for: the agent decides by itself\n  controls    steer",
		},
	} {
		p, problems := Parse([]byte(tt.file), Name(name), "/p")
		if got := p.Summary(edge); got != tt.want || problems.Faulty() {
			t.Errorf("got\n%s\nwant\n%s\n%v", got, tt.want, problems)
		}
	}
}
