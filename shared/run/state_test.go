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
		to, verdict := run.Advance(c.from, c.event)
		if to != c.to || verdict != c.verdict {
			t.Errorf("%s + %s = %s (%d), want %s (%d)", c.from, c.event, to, verdict, c.to, c.verdict)
		}
	}
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
			next, verdict := run.Advance(state, kind)
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
