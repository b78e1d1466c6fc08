package client

import (
	"errors"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

const (
	firstRun = "run_0000000000000001"
	nextRun  = "run_00000000000000ff"
)

func TestARunThatDidNotCompleteEndsWithAnError(t *testing.T) {
	why := RunError{Code: "agent_error", Message: "The agent ended with 3."}
	for state, c := range map[RunState]struct {
		why  RunError
		text string
	}{
		RunStateFailed:      {why, "run_0000000000000001 failed: The agent ended with 3. (agent_error)"},
		RunStateInterrupted: {RunError{Code: "edge_lost", Message: "Gone."}, "run_0000000000000001 interrupted: Gone. (edge_lost)"},
		RunStateCancelled:   {RunError{}, "run_0000000000000001 cancelled"},
	} {
		t.Run(string(state), func(t *testing.T) {
			inOmniBubble(t, func(t *testing.T, h *omniHub) {
				h.ends[firstRun] = AgentTask{State: state, Error: c.why}
				h.accepted = func(run string) { go h.speak(run, 2, time.Second) }
				times := 0
				h.refuse["GET /web/agent-tasks/"+firstRun] = func() (int, string) { // a hub that is busy is asked again
					if times++; times == 1 {
						return 503, "unavailable"
					}
					return 0, ""
				}
				lines, err := ran(t.Context(), h.session())
				wantLines(t, lines, h.told(0))
				var failed *TaskError
				if !errors.As(err, &failed) || *failed != (TaskError{firstRun, state, c.why.Code, c.why.Message}) || err.Error() != c.text {
					t.Errorf("ended with %v", err)
				}
			})
		})
	}
}

// A run that is cancelled before it began is in no state.
func TestARunThatNeverBeganEndsWithAnError(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		h.lazy = true
		h.ends[firstRun] = AgentTask{State: RunStateCancelled}
		h.accepted = func(run string) {
			go func() {
				time.Sleep(time.Minute)
				h.say(omni.Abort("user"))
				h.end(run)
			}()
		}
		lines, err := ran(t.Context(), h.session())
		wantLines(t, lines, h.told(0))
		var failed *TaskError
		if !errors.As(err, &failed) || failed.State != RunStateCancelled {
			t.Errorf("ended with %v", err)
		}
	})
}

// A caller who has left the loop is told nothing more.
func TestALoopThatWasLeftHasNoError(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		h.ends[firstRun] = AgentTask{State: RunStateFailed}
		h.accepted = func(run string) { h.speak(run, 1, 0) }
		for _, err := range h.session().Run(t.Context(), TextTask("x")) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if got := h.sent("GET /web/agent-tasks/" + firstRun); got != nil {
			t.Error("it has asked how the run ended")
		}
	})
}

// What continues a run is followed to its end, also where it is over before anybody has looked, and over cuts of the stream. How that ends counts.
func TestARunIsFollowedIntoTheOneThatContinuesIt(t *testing.T) {
	for name, c := range map[string]struct {
		pause  time.Duration
		budget func() int
		end    RunState
	}{
		"slowly":  {time.Minute, nil, RunStateCompleted},
		"at once": {0, nil, RunStateCompleted},
		"cut":     {time.Second, func() int { return 600 }, RunStateCompleted},
		"failed":  {time.Second, nil, RunStateFailed},
	} {
		t.Run(name, func(t *testing.T) {
			inOmniBubble(t, func(t *testing.T, h *omniHub) {
				h.budget = c.budget
				h.ends[firstRun] = AgentTask{State: RunStateFailed, Error: RunError{Code: "process_lost"}, ContinuedByRunID: nextRun}
				h.ends[nextRun] = AgentTask{State: c.end}
				h.accepted = func(run string) {
					go func() {
						h.say(omni.AssistantText("May I?"))
						h.change(func() { h.active = append(h.active, nextRun) })
						h.end(run)
						time.Sleep(c.pause)
						h.change(func() { h.runs = append(h.runs, nextRun) })
						h.speak(nextRun, 3, c.pause)
					}()
				}
				lines, err := ran(t.Context(), h.session())
				wantLines(t, lines, h.told(0))
				var failed *TaskError
				if is := errors.As(err, &failed); is != (c.end == RunStateFailed) || is && failed.Run != nextRun || !is && err != nil {
					t.Errorf("ended with %v", err)
				}
			})
		})
	}
}
