package run_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

func expect(t *testing.T, got []run.Candidate, want ...event.Type) {
	t.Helper()
	if !slices.Equal(types(got), want) {
		t.Fatalf("got  %v\nwant %v", types(got), want)
	}
}

func TestSuccessfulRunHasTheSequenceOfS2(t *testing.T) {
	got := play(
		run.Delta{Text: "Looking. "},
		run.ToolCall{ID: "t1", Name: "read", Args: raw(`{"path":"a"}`)},
		run.ToolResult{ID: "t1", Name: "read", Result: raw(`"text"`)},
		run.Delta{Text: "Found it."},
		run.Artifact{ArtifactCreatedPayload: event.ArtifactCreatedPayload{Type: "file", Filename: "report.md"}},
		run.Done{Answer: "Looking. Found it."},
	)
	expect(t, got, event.RunStarted, event.MessageStarted, event.MessageDelta, event.ToolStarted, event.ToolCompleted,
		event.MessageDelta, event.ArtifactCreated, event.MessageDone, event.RunCompleted)
	message := first[event.MessageCompletedPayload](t, got, event.MessageDone)
	if message.Content != "Looking. Found it." || message.ContentChecksum != event.TextChecksum(message.Content) {
		t.Errorf("message %+v", message)
	}
	if done := first[event.RunCompletedPayload](t, got, event.RunCompleted); done.MessageID != message.MessageID {
		t.Errorf("run.completed names %q, want %q", done.MessageID, message.MessageID)
	}
	tool := first[event.ToolCompletedPayload](t, got, event.ToolCompleted)
	if sum, err := event.Checksum(raw(`"text"`)); err != nil || tool.ResultChecksum != sum {
		t.Errorf("result checksum %q, want %q (%v)", tool.ResultChecksum, sum, err)
	}
}

func TestAnswerIsTheMessageWhenNothingWasStreamed(t *testing.T) {
	got := play(run.Done{Answer: "42"})
	expect(t, got, event.RunStarted, event.MessageStarted, event.MessageDone, event.RunCompleted)
	if m := first[event.MessageCompletedPayload](t, got, event.MessageDone); m.Content != "42" {
		t.Errorf("content %q", m.Content)
	}
}

func TestAnswerFillsAMessageThatHasOnlyThoughts(t *testing.T) {
	got := play(run.Delta{Channel: run.Thought, Text: "hm"}, run.Done{Answer: "42"})
	expect(t, got, event.RunStarted, event.MessageStarted, event.Thinking, event.MessageDone, event.RunCompleted)
	if m := first[event.MessageCompletedPayload](t, got, event.MessageDone); m.Content != "42" {
		t.Errorf("content %q", m.Content)
	}
}

func TestStreamedTextWinsOverADifferentAnswer(t *testing.T) {
	got := play(run.Delta{Text: "streamed"}, run.Done{Answer: "something else"})
	if m := first[event.MessageCompletedPayload](t, got, event.MessageDone); m.Content != "streamed" {
		t.Errorf("content %q", m.Content)
	}
}

func TestSilentRunCompletesWithoutAMessage(t *testing.T) {
	got := play(run.Done{})
	expect(t, got, event.RunStarted, event.RunCompleted)
	if done := first[event.RunCompletedPayload](t, got, event.RunCompleted); done.MessageID != "" {
		t.Errorf("names message %q", done.MessageID)
	}
}

func TestMessageWithoutTextIsNotTheFinalOne(t *testing.T) {
	got := play(run.Delta{Channel: run.Thought, Text: "hm"}, run.Done{})
	expect(t, got, event.RunStarted, event.MessageStarted, event.Thinking, event.MessageDone, event.RunCompleted)
	if done := first[event.RunCompletedPayload](t, got, event.RunCompleted); done.MessageID != "" {
		t.Errorf("names message %q", done.MessageID)
	}
}

func TestEmptyDeltaIsNothing(t *testing.T) {
	expect(t, play(run.Delta{}), event.RunStarted)
}

func TestOnlyTheFirstTerminalCounts(t *testing.T) {
	n := run.New(run.Options{})
	n.Start("", time.Unix(0, 0))
	expect(t, n.Step(run.Done{}), event.RunCompleted)
	if !n.Ended() {
		t.Fatal("not ended")
	}
	for _, late := range []run.AgentEvent{
		run.Done{}, run.Failure{}, run.Delta{Text: "x"}, run.ToolCall{Name: "x"}, run.ToolResult{Name: "x"},
		run.StateChange{State: "x"}, run.Fact{Type: event.SessionMetrics},
	} {
		expect(t, n.Step(late))
	}
	expect(t, n.Close(run.Cancelled(true)))
	expect(t, n.Start("", time.Unix(0, 0)))
	expect(t, n.Queue("x"))
}

func TestFailureClosesWhatIsOpen(t *testing.T) {
	got := play(
		run.Delta{Text: "half"},
		run.ToolCall{ID: "a", Name: "x"},
		run.ToolCall{ID: "b", Name: "y"},
		run.Failure{ErrorObj: event.ErrorObj{Message: "boom", Retryable: true}},
	)
	expect(t, got[5:], event.MessageDone, event.ToolFailed, event.ToolFailed, event.RunFailed)
	if m := first[event.MessageCompletedPayload](t, got, event.MessageDone); m.Content != "half" {
		t.Errorf("content %q", m.Content)
	}
	if f := first[event.ToolFailedPayload](t, got, event.ToolFailed); f.ToolCallID != "a" || f.Error.Code != fault.RunEnded {
		t.Errorf("first open tool: %+v", f)
	}
	want := event.ErrorObj{Code: fault.AgentError, Message: "boom", Retryable: true}
	if f := first[event.RunFailedPayload](t, got, event.RunFailed); f.Error != want {
		t.Errorf("error %+v", f.Error)
	}
}

func TestARunThatIsContinuedSaysWhyItsProcessEndedAndNamesTheOneThatGoesOn(t *testing.T) {
	const next = "run_0123456789abcdef"
	for why, code := range map[event.EndReason]fault.Code{
		event.EndedAtTurnLimit: fault.Timeout, event.EndedWithEdge: fault.EdgeStopped, event.EndedUnseen: fault.ProcessLost, "newer": fault.Timeout,
	} {
		n := run.New(run.Options{})
		got := append(n.Start("", time.Unix(0, 0)), n.Close(run.ProcessEnded(why, nil))...)
		restored, err := run.Restore(run.Options{}, rows(t, got))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, n.Close(run.Continued(next))...)
		expect(t, got, event.RunStarted, event.RunProcessEnded, event.RunFailed)
		f := first[event.RunFailedPayload](t, got, event.RunFailed)
		if f.ContinuedBy != next || f.Error.Code != code || !strings.HasSuffix(f.Error.Message, " It goes on in "+next+".") {
			t.Errorf("%s: failed %+v", why, f)
		}
		if again := first[event.RunFailedPayload](t, restored.Close(run.Continued(next)), event.RunFailed); again != f {
			t.Errorf("%s: restored %+v", why, again)
		}
	}
}

func TestCloseFromOutsideEndsInTheGivenWay(t *testing.T) {
	for _, c := range []struct {
		outcome run.Outcome
		want    string
	}{
		{run.Completed(), `run.completed {"message_id":"msg_1"}`},
		{run.Cancelled(true), `run.cancelled {"external_stop_confirmed":true}`},
		{run.Interrupted(fault.ProcessLost), `run.interrupted {"reason_code":"process_lost"}`},
		{run.Failed(event.ErrorObj{Code: fault.Timeout, Message: "m"}),
			`run.failed {"error":{"code":"timeout","message":"m","retryable":false}}`},
	} {
		n := run.New((&counters{}).options())
		n.Step(run.Delta{Text: "x"})
		got := lines(t, n.Close(c.outcome))
		if len(got) != 2 || !strings.HasPrefix(got[0], "message.completed ") || got[1] != c.want {
			t.Errorf("got %v, want a closed message and %s", got, c.want)
		}
	}
}

func TestStartNamesTheWorkDirOnlyWhenThereIsOne(t *testing.T) {
	at := time.Date(2026, 5, 4, 3, 2, 1, 123456789, time.FixedZone("x", 3600))
	n := run.New(run.Options{})
	got := lines(t, slices.Concat(n.Queue("busy"), n.Start("/w", at), run.New(run.Options{}).Start("", at)))
	want := []string{
		`run.queued {"reason":"busy"}`,
		`run.started {"started_at":"2026-05-04T02:02:01.123456Z","workDir":"/w"}`,
		`run.started {"started_at":"2026-05-04T02:02:01.123456Z"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestStateChangeIsKept(t *testing.T) {
	got := lines(t, play(run.StateChange{State: "planning"}))
	if got[1] != `run.agent.session_state_changed {"state":"planning"}` {
		t.Errorf("got %v", got)
	}
}

func TestFreshIDsAreMadeWhenNoSourceIsGiven(t *testing.T) {
	n := run.New(run.Options{})
	got := append(n.Step(run.Delta{Text: "x"}), n.Step(run.ToolCall{Name: "y"})...)
	if m := first[event.MessageStartedPayload](t, got, event.MessageStarted); !strings.HasPrefix(string(m.MessageID), "msg_") {
		t.Errorf("message id %q", m.MessageID)
	}
	if c := first[event.ToolStartedPayload](t, got, event.ToolStarted); !strings.HasPrefix(c.ToolCallID, "call_") {
		t.Errorf("tool call id %q", c.ToolCallID)
	}
}
