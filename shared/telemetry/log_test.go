package telemetry_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

func logger(t *testing.T, level string) (*slog.Logger, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	log, err := telemetry.NewLogger(&out, level)
	if err != nil {
		t.Fatal(err)
	}
	return log, &out
}

func TestLogsAreJSONLines(t *testing.T) {
	log, out := logger(t, "info")
	log.Info("edge connected", "edge", "edge_1", "rows", 3)
	var line struct {
		Level, Msg, Edge string
		Rows             int
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Level != "INFO" || line.Msg != "edge connected" || line.Edge != "edge_1" || line.Rows != 3 {
		t.Errorf("%s: %v", out, err)
	}
}

func TestSecretsAreMaskedWhereverTheyStand(t *testing.T) {
	const canary = "s3cr3t-canary"
	foreign := []string{"Password", "Set-Cookie"} // names as others spell them
	log, out := logger(t, "debug")
	log = log.With("token", canary).WithGroup("login").With(slog.Any(foreign[0], canary))
	log.Debug("x", slog.String("authorization", "Bearer "+canary), slog.Group("edge", "credential", canary), slog.Any("client_secret", []string{canary}),
		slog.Any(foreign[1], canary), slog.String("name", "ada"))
	if strings.Contains(out.String(), canary) {
		t.Errorf("leaked: %s", out)
	}
	if strings.Count(out.String(), "[masked]") != 6 || !strings.Contains(out.String(), `"name":"ada"`) {
		t.Errorf("masked wrongly: %s", out)
	}
}

func TestOrdinaryNamesAreNotSecret(t *testing.T) {
	for _, name := range []string{"edge", "run_id", "count", "author", "path"} {
		if telemetry.Secret(name) {
			t.Errorf("%s counts as a secret", name)
		}
	}
}

func TestLevelIsAWord(t *testing.T) {
	for _, bad := range []string{"", "INFO", "verbose", "info+2", "4"} {
		if l, err := telemetry.ParseLevel(bad); err == nil {
			t.Errorf("%q is level %s", bad, l)
		}
		if _, err := telemetry.NewLogger(nil, bad); err == nil {
			t.Errorf("made a logger of level %q", bad)
		}
	}
	log, out := logger(t, "warn")
	log.Info("quiet")
	log.Warn("loud")
	if text := out.String(); strings.Contains(text, "quiet") || !strings.Contains(text, "loud") {
		t.Error(text)
	}
}

func TestLogCarriesTheTraceOfItsContext(t *testing.T) {
	log, out := logger(t, "info")
	trace := telemetry.NewTrace()
	log.With("a", 1).InfoContext(telemetry.WithTrace(t.Context(), trace), "x")
	log.InfoContext(telemetry.WithTrace(t.Context(), telemetry.Trace{TraceID: trace.TraceID}), "y")
	log.InfoContext(t.Context(), "z")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	id := `"trace_id":"` + string(trace.TraceID) + `"`
	if len(lines) != 3 || !strings.Contains(lines[0], id+`,"span_id":"`+string(trace.SpanID)+`"`) {
		t.Fatalf("%s", out)
	}
	if !strings.Contains(lines[1], id) || strings.Contains(lines[1], "span_id") || strings.Contains(lines[2], "trace_id") {
		t.Errorf("%s", out)
	}
}
