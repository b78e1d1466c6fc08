package journal_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// A tool that was called before the edge stopped ends after it, in the same span; a row of a run without a trace has none.
func TestARowNamesItsSpan(t *testing.T) {
	home, traced, plain := t.TempDir(), id.NewRun(), id.NewRun()
	from := origin(traced)
	from.TraceID = "trace_" + strings.Repeat("ab", 16)
	started := run.Candidate{Type: event.ToolStarted, Payload: event.ToolStartedPayload{ToolCallID: "t1", ToolName: "read"}}
	failed := run.Candidate{Type: event.ToolFailed, Payload: event.ToolFailedPayload{ToolCallID: "t1"}}

	first := open(t, options(home))
	must(t, first.Commit(t.Context(), from, state("busy"), delta("msg_1", "one"), started))
	must(t, first.stop())
	second := open(t, options(home))
	must(t, second.Commit(t.Context(), from, failed, completed()))
	must(t, second.Commit(t.Context(), origin(plain), state("busy")))

	root := event.SpanOf(traced, event.RunCompleted, nil)
	tool := event.SpanOf(traced, event.ToolFailed, []byte(`{"tool_call_id":"t1"}`))
	want := []string{root, root, tool, tool, root, ""}
	found := rows(t, second.Journal, 1)
	if len(found) != len(want) || root == tool {
		t.Fatalf("%d rows, root %s, tool %s", len(found), root, tool)
	}
	for i, e := range found {
		if e.SpanID != want[i] {
			t.Errorf("row %d, %s: span %q, want %q", i+1, e.Type, e.SpanID, want[i])
		}
	}
}
