package omnilog_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// TestStrangersSeeNoPaths has metas as S1 has them, and such that cannot be read: those may have paths too.
func TestStrangersSeeNoPaths(t *testing.T) {
	const head = `{"timestamp":"2026-07-18T07:30:00.000Z","type":"session_meta","payload":{"session_id":"s","provider":"p","model_id":"m",`
	const whole = `"model_context_window":1,"system_prompt":"Be brief.",`
	for name, line := range map[string]string{
		"as it is":             head + whole + `"agent_state":"/secret/state","workspace":"/secret"}}`,
		"of a sub-agent":       head + whole + `"agent_state":"","workspace":"/secret"},"origin":["a","b"]}`,
		"an unreadable window": head + `"model_context_window":[],"system_prompt":"Be brief.","agent_state":"/secret/state","workspace":"/secret"},"origin":["a","b"]}`,
		"a list of paths":      head + whole + `"agent_state":"","workspace":["/secret"]}}`,
		"paths twice":          head + whole + `"workspace":"/secret","agent_state":{},"workspace":""}}`,
	} {
		m, err := omni.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if !omnilog.HasPaths(m) {
			t.Errorf("%s: has no paths", name)
		}
		shown, err := omnilog.WithoutPaths(m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text := string(shown.Bytes())
		if strings.Contains(text, "/secret") || !strings.Contains(text, `"Be brief."`) || len(shown.Origin()) != len(m.Origin()) || shown.Timestamp() != m.Timestamp() {
			t.Errorf("%s: strangers see %s", name, text)
		}
	}
	bare, err := omni.Decode([]byte(head + whole + `"agent_state":"","workspace":""}}`))
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := omnilog.WithoutPaths(bare); err != nil || string(shown.Bytes()) != string(bare.Bytes()) {
		t.Errorf("one without paths became %s, %v", shown.Bytes(), err)
	}
}
