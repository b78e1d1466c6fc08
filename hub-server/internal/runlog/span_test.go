package runlog

import (
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// An edge's word on the span counts; the hub names that of its own events, and of an edge that is older than spans.
func TestEveryEventOfATracedRunHasASpan(t *testing.T) {
	const trace = "0123456789abcdef0123456789abcdef"
	failed, err := own(run.Candidate{Type: event.ToolFailed, Payload: event.ToolFailedPayload{ToolCallID: "t1"}}, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	runID := id.NewRun()
	named := failed
	named.TraceID, named.SpanID = trace, "00f067aa0ba902b7"
	g := Head{Run: runID, State: run.StateRunning, TraceID: trace}.Grow()
	g.Append(named)
	g.Append(failed)
	g.Append(Entry{Type: event.RunCancelling})
	tool := event.SpanOf(runID, event.ToolFailed, failed.Body.Payload)
	for i, want := range []string{"00f067aa0ba902b7", tool, event.SpanOf(runID, event.RunCancelling, nil)} {
		if got := g.Events[i].SpanID; got != want {
			t.Errorf("event %d has span %q, want %q", i+1, got, want)
		}
	}
	untraced := Head{Run: runID, State: run.StateRunning}.Grow()
	untraced.Append(failed)
	if got := untraced.Events[0].SpanID; got != "" {
		t.Errorf("a span without a trace: %q", got)
	}
}
