package run_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

var (
	liveStates = []run.State{
		run.StateQueued, run.StateWaitingEdge, run.StateDispatched, run.StateRunning, run.StateWaitingPerson, run.StateCancelling,
	}
	finalStates = []run.State{run.StateCompleted, run.StateFailed, run.StateCancelled, run.StateInterrupted}
	terminals   = []event.Type{event.RunCompleted, event.RunFailed, event.RunCancelled, event.RunInterrupted}
)

func TestStatesAndTerminalsShareTheirNames(t *testing.T) {
	for i, s := range finalStates {
		if terminals[i] != event.Type("run."+string(s)) || !s.Ended() {
			t.Errorf("%s and %s", s, terminals[i])
		}
	}
	for _, s := range slices.Concat(liveStates, finalStates) {
		if parsed, err := run.ParseState(string(s)); err != nil || parsed != s {
			t.Errorf("parse %s: %s, %v", s, parsed, err)
		}
	}
	if _, err := run.ParseState("Running"); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("parsed a state that is none: %v", err)
	}
}

func TestOnlyAWaitingRunIsDispatched(t *testing.T) {
	for _, s := range slices.Concat(liveStates, finalStates) {
		if want := s == run.StateQueued || s == run.StateWaitingEdge; s.Dispatchable() != want {
			t.Errorf("%s dispatchable: %v", s, s.Dispatchable())
		}
	}
}

func TestEventsMoveTheState(t *testing.T) {
	for _, c := range []struct {
		from    run.State
		event   event.Type
		to      run.State
		verdict run.Verdict
	}{
		{run.StateDispatched, event.RunStarted, run.StateRunning, run.Apply},
		{run.StateQueued, event.RunStarted, run.StateRunning, run.Apply},
		{run.StateDispatched, event.RunQueued, run.StateDispatched, run.Ignore},
		{run.StateRunning, event.RunStarted, run.StateRunning, run.Ignore},
		{run.StateCancelling, event.RunStarted, run.StateCancelling, run.Ignore},
		{run.StateWaitingPerson, event.RunStarted, run.StateWaitingPerson, run.Ignore},
		{run.StateRunning, event.MessageDelta, run.StateRunning, run.Ignore},
		{run.StateRunning, "vendor.new", run.StateRunning, run.Ignore},
		{run.StateQueued, event.RunCancelling, run.StateCancelling, run.Apply},
		{run.StateCancelling, event.RunCancelling, run.StateCancelling, run.Ignore},
		{run.StateCancelling, event.RunCompleted, run.StateCompleted, run.Apply},
		{run.StateCancelling, event.RunCancelled, run.StateCancelled, run.Apply},
		{run.StateRunning, event.RunCancelled, run.StateCancelled, run.Apply},
		{run.StateWaitingPerson, event.RunFailed, run.StateFailed, run.Apply},
		{run.StateDispatched, event.RunInterrupted, run.StateInterrupted, run.Apply},
		{run.StateInterrupted, event.MessageDone, run.StateInterrupted, run.Late},
		{run.StateInterrupted, event.RunCancelling, run.StateInterrupted, run.Late},
		{run.StateInterrupted, event.RunCompleted, run.StateInterrupted, run.LateOutcome},
		{run.StateCompleted, event.RunCompleted, run.StateCompleted, run.LateOutcome},
	} {
		to, verdict := run.Advance(c.from, c.event, 0)
		if to != c.to || verdict != c.verdict {
			t.Errorf("%s + %s = %s (%d), want %s (%d)", c.from, c.event, to, verdict, c.to, c.verdict)
		}
	}
}

func TestPromptsLetARunWaitForAPerson(t *testing.T) {
	for _, c := range []struct {
		rule    string
		from    run.State
		event   event.Type
		pending int
		to      run.State
	}{
		{"a request to a person lets it wait", run.StateRunning, event.PromptRequested, 1, run.StateWaitingPerson},
		{"a request that a policy answers does not", run.StateRunning, event.PromptRequested, 0, run.StateRunning},
		{"a second request changes nothing", run.StateWaitingPerson, event.PromptRequested, 2, run.StateWaitingPerson},
		{"one of two answers is not enough", run.StateWaitingPerson, event.PromptAnswered, 1, run.StateWaitingPerson},
		{"the last answer lets it go on", run.StateWaitingPerson, event.PromptAnswered, 0, run.StateRunning},
		{"an expiry counts as an answer", run.StateWaitingPerson, event.PromptExpired, 0, run.StateRunning},
		{"an answer by policy beside an open one", run.StateWaitingPerson, event.PromptAnswered, 1, run.StateWaitingPerson},
		{"a delivery is no news", run.StateRunning, event.PromptDelivered, 0, run.StateRunning},
		{"text does not end the waiting", run.StateWaitingPerson, event.MessageDelta, 0, run.StateWaitingPerson},
		{"a run that is being stopped does not wait", run.StateCancelling, event.PromptRequested, 1, run.StateCancelling},
		{"a waiting run can be stopped", run.StateWaitingPerson, event.RunCancelling, 1, run.StateCancelling},
		{"a waiting run can end", run.StateWaitingPerson, event.RunCompleted, 1, run.StateCompleted},
		{"a run before its start does not wait", run.StateDispatched, event.PromptRequested, 1, run.StateDispatched},
		{"the turn limit leaves it waiting", run.StateWaitingPerson, event.RunProcessEnded, 1, run.StateWaitingPerson},
		{"the turn limit came before the answer arrived", run.StateRunning, event.RunProcessEnded, 0, run.StateWaitingPerson},
		{"a run that is being stopped stays so", run.StateCancelling, event.RunProcessEnded, 1, run.StateCancelling},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if to, verdict := run.Advance(c.from, c.event, c.pending); to != c.to || (verdict == run.Apply) != (c.from != c.to) {
				t.Errorf("%s + %s (%d pending) = %s (%d), want %s", c.from, c.event, c.pending, to, verdict, c.to)
			}
		})
	}
}

// TestARunWaitsExactlyWhileAPromptDoes plays prompts that open and close in any order, counted as a hub counts them.
func TestARunWaitsExactlyWhileAPromptDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state, pending := run.StateRunning, 0
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			kind := rapid.SampledFrom([]event.Type{event.PromptRequested, event.PromptAnswered, event.PromptExpired, event.PromptDelivered,
				event.MessageDelta, event.ToolStarted}).Draw(t, "event")
			byPolicy := rapid.Bool().Draw(t, "by policy")
			switch {
			case kind == event.PromptRequested && !byPolicy:
				pending++
			case (kind == event.PromptAnswered && !byPolicy || kind == event.PromptExpired) && pending > 0:
				pending--
			}
			state, _ = run.Advance(state, kind, pending)
			if waits := state == run.StateWaitingPerson; waits != (pending > 0) || !waits && state != run.StateRunning {
				t.Fatalf("%s with %d pending after %s", state, pending, kind)
			}
		}
	})
}

func TestARunEndsOnceAndNeverMovesAgain(t *testing.T) {
	known := []event.Type{"vendor.new"}
	for _, r := range event.Rows() {
		known = append(known, r.Stored)
	}
	rapid.Check(t, func(t *rapid.T) {
		state := rapid.SampledFrom(liveStates).Draw(t, "state")
		ended := 0
		for _, kind := range rapid.SliceOf(rapid.SampledFrom(known)).Draw(t, "events") {
			next, verdict := run.Advance(state, kind, rapid.IntRange(0, 2).Draw(t, "pending"))
			switch {
			case state.Ended() && (next != state || verdict != run.Late && verdict != run.LateOutcome):
				t.Fatalf("%s moved to %s by %s (%d)", state, next, kind, verdict)
			case state.Ended() && kind.Terminal() != (verdict == run.LateOutcome):
				t.Fatalf("late %s judged %d", kind, verdict)
			case !state.Ended() && (verdict == run.Apply) != (next != state):
				t.Fatalf("%s + %s = %s but verdict %d", state, kind, next, verdict)
			case !state.Ended() && kind.Terminal() != next.Ended():
				t.Fatalf("%s took %s to %s", kind, state, next)
			}
			if next.Ended() && verdict == run.Apply {
				ended++
			}
			state = next
		}
		if ended > 1 {
			t.Fatalf("ended %d times", ended)
		}
	})
}

func TestEveryEndHasItsNamesOnAllSurfaces(t *testing.T) {
	for _, c := range []struct {
		state run.State
		code  fault.Code
		want  run.Ending
	}{
		{run.StateCompleted, "", run.Ending{Close: "ok", Stop: "completed", Frame: "agent.done"}},
		{run.StateFailed, fault.AgentError, run.Ending{Close: "failed", Stop: "failed", Frame: "agent.failed"}},
		{run.StateFailed, fault.Timeout, run.Ending{Close: "failed", Stop: "timeout", Frame: "agent.failed", FrameCode: "timeout"}},
		{run.StateCancelled, "", run.Ending{Close: "cancelled", Stop: "aborted", Frame: "agent.cancel"}},
		{run.StateInterrupted, fault.ProcessLost, run.Ending{
			Close: "failed", CloseError: "orphan_timeout", Stop: "failed", Frame: "agent.failed", FrameCode: "interrupted"}},
	} {
		got, ok := run.EndingOf(c.state, c.code)
		c.want.State, c.want.Code, c.want.Terminal = got.State, got.Code, event.Type("run."+string(c.state))
		if !ok || got != c.want {
			t.Errorf("%s %s: got %+v, want %+v", c.state, c.code, got, c.want)
		}
	}
	for _, s := range liveStates {
		if _, ok := run.EndingOf(s, ""); ok {
			t.Errorf("%s has an ending", s)
		}
	}
}
