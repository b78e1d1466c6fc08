package runlog

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

func entryOf(t rapid.TB, typ event.Type, payload any) Entry {
	e, err := own(run.Candidate{Type: typ, Payload: payload}, time.Unix(1, 0))
	if err != nil {
		t.Fatalf("%s: %v", typ, err)
	}
	return e
}

func askFor(t rapid.TB, request id.Request, asks event.Decider) Entry {
	return entryOf(t, event.PromptRequested, event.PromptRequestedPayload{
		RequestID: request, Kind: event.PromptPermission, ToolName: "Bash", Input: []byte(`{}`), Digest: string(anyHash), Asks: asks,
	})
}

const anyHash BlobHash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// TestARunWaitsExactlyAsLongAsAQuestionDoes plays what an edge and people may do, in any order.
func TestARunWaitsExactlyAsLongAsAQuestionDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := Head{State: run.StateRunning}.Grow()
		var ever []id.Request
		open := map[id.Request]bool{}
		gone := false
		t.Repeat(map[string]func(*rapid.T){
			"a person is asked": func(t *rapid.T) {
				request := id.NewRequest()
				g.Append(askFor(t, request, event.Person))
				ever = append(ever, request)
				open[request] = true
			},
			"the policy is asked": func(t *rapid.T) { g.Append(askFor(t, id.NewRequest(), event.Policy)) },
			"asked again": func(t *rapid.T) {
				if len(g.Pending) > 0 {
					g.Append(askFor(t, g.Pending[0], event.Person))
				}
			},
			"answered": func(t *rapid.T) {
				if len(ever) == 0 {
					return
				}
				request := rapid.SampledFrom(ever).Draw(t, "request")
				g.Append(entryOf(t, event.PromptAnswered, event.PromptAnsweredPayload{RequestID: request, Decision: event.Allow, By: event.Person}))
				delete(open, request)
			},
			"expired": func(t *rapid.T) {
				if len(ever) == 0 {
					return
				}
				request := rapid.SampledFrom(ever).Draw(t, "request")
				g.Append(entryOf(t, event.PromptExpired, event.PromptExpiredPayload{RequestID: request, Reason: event.ExpiredByLimit}))
				delete(open, request)
			},
			"content": func(t *rapid.T) { g.Append(entryOf(t, event.MessageDelta, event.DeltaPayload{Delta: "x"})) },
			"the process ends": func(t *rapid.T) {
				g.Append(entryOf(t, event.RunProcessEnded, event.ProcessEndedPayload{Pending: slices.Clone(g.Pending)}))
				gone = true
			},
			"": func(t *rapid.T) {
				if len(g.Pending) != len(open) || slices.ContainsFunc(g.Pending, func(r id.Request) bool { return !open[r] }) {
					t.Fatalf("pending %v, want %v", g.Pending, open)
				}
				if len(open) > 0 && g.State != run.StateWaitingPerson {
					t.Fatalf("run is %s with %d questions open", g.State, len(open))
				}
				if len(open) == 0 && !gone && g.State != run.StateRunning {
					t.Fatalf("run is %s with nothing to wait for", g.State)
				}
				told := map[id.Request]int{}
				for _, m := range g.Prompts.Moves {
					told[m.Request]++
				}
				for _, request := range ever {
					if want := map[bool]int{true: 1, false: 2}[open[request]]; told[request] != want {
						t.Fatalf("people were told %d times of %s", told[request], request)
					}
				}
				if len(g.Prompts.Answered)+len(g.Prompts.Expired) != len(ever)-len(open) {
					t.Fatalf("%d answered, %d expired of %d, %d open", len(g.Prompts.Answered), len(g.Prompts.Expired), len(ever), len(open))
				}
				if len(g.Prompts.Asked) != len(ever) || g.ProcessEnded != gone || g.Prompts.Abandoned != gone {
					t.Fatalf("changes %+v after %d questions", g.Prompts, len(ever))
				}
			},
		})
	})
}

func TestAQuestionThatCannotBeKeptAsksNobodyAndIsStoredAllTheSame(t *testing.T) {
	good := event.PromptRequestedPayload{
		RequestID: id.NewRequest(), Kind: event.PromptPermission, ToolName: "Bash", Input: []byte(`{}`), Digest: string(anyHash), Asks: event.Person,
	}
	for name, spoil := range map[string]func(*event.PromptRequestedPayload){
		"request id": func(p *event.PromptRequestedPayload) { p.RequestID = "7" },
		"digest":     func(p *event.PromptRequestedPayload) { p.Digest = "7" },
		"kind":       func(p *event.PromptRequestedPayload) { p.Kind = "" },
		"nobody":     func(p *event.PromptRequestedPayload) { p.Asks = "" },
	} {
		bad := good
		spoil(&bad)
		g := Head{State: run.StateRunning}.Grow()
		g.Append(entryOf(t, event.PromptRequested, bad))
		if len(g.Pending) != 0 || g.State != run.StateRunning || len(g.Events) != 1 {
			t.Errorf("%s: pending %v, run %s, %d events", name, g.Pending, g.State, len(g.Events))
		}
	}
	g := Head{State: run.StateRunning}.Grow()
	g.Append(entryOf(t, event.PromptRequested, good))
	if len(g.Pending) != 1 || g.State != run.StateWaitingPerson {
		t.Errorf("a good one: pending %v, run %s", g.Pending, g.State)
	}
}

func TestAProcessThatEndsInACancelledRunLeavesItCancelling(t *testing.T) {
	g := Head{State: run.StateCancelling, Pending: []id.Request{"req_1"}}.Grow()
	g.Append(entryOf(t, event.RunProcessEnded, event.ProcessEndedPayload{Code: fault.Timeout}))
	if g.State != run.StateCancelling || !g.ProcessEnded || !slices.Equal(g.Prompts.Outlived, []id.Request{"req_1"}) {
		t.Errorf("run %s, changes %+v", g.State, g.Prompts)
	}
}
