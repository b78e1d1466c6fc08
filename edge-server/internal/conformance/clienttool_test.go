package conformance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/conformance"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
)

// callsATool has a client do something where one offers it, and repeats what comes of it.
const callsATool = `read -r turn
case $turn in *'"client_tools":[{"name":"open_url"'*)
	printf '{"type":"tool_call","target":"client","tool_call_id":"1","tool_name":"open_url","tool_args":{"url":"x"}}\n'
	read -r result || exit 1; echo "$result" >>results
esac
printf '{"type":"done","answer":"done"}\n'
`

func TestAnAgentThatCallsAClientsToolIsToldBothEnds(t *testing.T) {
	dir := t.TempDir()
	report := check(t, profile.Profile{
		Runtime: profile.Events, Command: "sh", Args: []string{"-c", callsATool}, Cwd: dir, Grace: 4 * time.Second, Streaming: true, Permission: true,
	}, time.Minute)
	if !report.OK(true) {
		t.Errorf("breaks %v%s", broken(report), reasons(report))
	}
	seen := 0
	for _, f := range report.Findings {
		if strings.HasPrefix(string(f.Rule.ID), "client.") {
			seen++
			if f.Status != conformance.Passed {
				t.Errorf("%s: %s, %s", f.Rule.ID, f.Status, f.Reason)
			}
		}
	}
	results, err := os.ReadFile(filepath.Join(dir, "results"))
	const want = `{"type":"tool_result","tool_call_id":"1","tool_name":"open_url","status":"ok","output":{"checked":true}}
{"type":"tool_result","tool_call_id":"1","tool_name":"open_url","status":"failed","error":{"code":"client_tool_failed","message":"The check says no.","retryable":false}}
`
	if err != nil || string(results) != want || seen != 3 {
		t.Errorf("%d rules, %v, results\n%s", seen, err, results)
	}
}

func TestAnAgentThatCallsNoClientsToolIsNotJudgedByIt(t *testing.T) {
	report := check(t, profile.Profile{
		Runtime: profile.Events, Command: "sh", Args: []string{"-c", `read -r turn; printf '{"type":"done","answer":"x"}\n'`}, Grace: 4 * time.Second, Streaming: true, Permission: true,
	}, time.Minute)
	for _, f := range report.Findings {
		if strings.HasPrefix(string(f.Rule.ID), "client.") && f.Status != conformance.NotApplicable {
			t.Errorf("%s: %s, %s", f.Rule.ID, f.Status, f.Reason)
		}
	}
	if !report.OK(true) {
		t.Errorf("breaks %v%s", broken(report), reasons(report))
	}
}
