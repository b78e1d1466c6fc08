package profile

import "testing"

func TestReadonlyToolsOfTheProfileReplaceTheDefault(t *testing.T) {
	for _, tt := range []struct {
		tools []string
		tool  string
		want  bool
	}{
		{nil, "Read", true},
		{nil, "read", false},
		{nil, "Bash", false},
		{nil, "WebFetch", false},
		{[]string{"Search"}, "Search", true},
		{[]string{"Search"}, "Read", false},
		{[]string{}, "Read", false},
	} {
		if got := (Profile{ReadonlyTools: tt.tools}).Readonly(tt.tool); got != tt.want {
			t.Errorf("%q of %q: %v", tt.tool, tt.tools, got)
		}
	}
}

func TestPolicyThatNobodyAsksForIsWarnedAbout(t *testing.T) {
	for file, want := range map[string]int{
		"command: x\npermission: true\npermission_policy: deny-all\n":                           0,
		"command: x\npermission_policy: deny-all\n":                                             1,
		"command: x\npermission: true\nreadonly_tools: [Read]\n":                                1,
		"command: x\npermission_policy: ask\nreadonly_tools: [Read]\n":                          2,
		"command: x\npermission: true\npermission_policy: allow-readonly\nreadonly_tools: []\n": 0,
	} {
		if _, problems := Parse([]byte(file), "a", "/p"); problems.Faulty() || len(problems) != want {
			t.Errorf("%q: %v", file, problems)
		}
	}
}
