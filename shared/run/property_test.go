package run_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// agentEvents draws what a careless agent and its sub-agents might say: ids from a small set, so that they collide.
func agentEvents() *rapid.Generator[[]run.AgentEvent] {
	ids := rapid.SampledFrom([]string{"", "", "a", "b", "c"})
	names := rapid.SampledFrom([]string{"", "read", "write"})
	targets := rapid.SampledFrom([]event.ToolTarget{"", "", event.TargetClient})
	agents := rapid.SampledFrom([]event.SubAgent{"", "", "", "main", "sub_a", "sub_b"})
	fidelities := rapid.SampledFrom([]event.Fidelity{{}, {Fidelity: `{ "a":1e400 }`}, {FidelityDropped: event.FidelityTooLarge}})
	values := rapid.SampledFrom([]string{"", `{}`, `{"a":1e400}`, `[1.0]`, `"<"`, `broken`})
	one := rapid.Custom(func(t *rapid.T) run.AgentEvent {
		agent := agents.Draw(t, "agent")
		switch rapid.IntRange(0, 28).Draw(t, "kind") {
		case 0, 1, 2, 3, 4, 5:
			return run.Delta{
				Text: rapid.StringN(0, 5, -1).Draw(t, "text"), Block: rapid.IntRange(0, 1).Draw(t, "block"), Agent: agent,
				Last: rapid.IntRange(0, 4).Draw(t, "last") == 0, Fidelity: fidelities.Draw(t, "fidelity"),
			}
		case 6, 7:
			return run.Delta{
				Channel: run.Thought, Text: rapid.StringN(0, 5, -1).Draw(t, "thought"), Agent: agent, Apart: rapid.Bool().Draw(t, "apart"),
				Last: rapid.IntRange(0, 2).Draw(t, "last") == 0, Fidelity: fidelities.Draw(t, "fidelity"),
			}
		case 8, 9, 10, 11:
			return run.ToolCall{ID: ids.Draw(t, "id"), Name: names.Draw(t, "name"), Args: raw(values.Draw(t, "args")), Agent: agent, Target: targets.Draw(t, "target"), Fidelity: fidelities.Draw(t, "fidelity")}
		case 26:
			return run.Delta{Channel: run.ToolOutput, Text: rapid.StringN(0, 5, -1).Draw(t, "output"), Call: ids.Draw(t, "id"), Agent: agent}
		case 27:
			status := rapid.SampledFrom([]event.RequestStatus{event.RequestCompleted, event.RequestFailed, event.RequestAborted, "vendor"}).Draw(t, "status")
			return run.Fact{Type: event.RequestEnd, Payload: event.RequestEndPayload{RequestID: "r", AgentID: agent, Status: status}}
		case 28:
			name := names.Draw(t, "name")
			digest, _ := event.PromptDigest(name, raw(`{}`))
			return run.Asked{PromptRequestedPayload: event.PromptRequestedPayload{
				RequestID: "req_2", Kind: event.PromptPermission, ToolName: name, Input: raw(`{}`), ToolCallID: ids.Draw(t, "id"), Digest: digest,
				Asks: event.Policy, AgentID: agent,
			}}
		case 12, 13, 14:
			return run.ToolResult{ID: ids.Draw(t, "id"), Name: names.Draw(t, "name"), Result: raw(values.Draw(t, "result")), Agent: agent, Target: targets.Draw(t, "target")}
		case 15:
			return run.ToolResult{ID: ids.Draw(t, "id"), Name: names.Draw(t, "name"), Error: &event.ErrorObj{Message: "no"}, Agent: agent}
		case 24:
			return run.Delta{Channel: run.ToolInput, Text: rapid.StringN(0, 5, -1).Draw(t, "input"), Call: ids.Draw(t, "id"), Agent: agent}
		case 25:
			status := rapid.SampledFrom([]event.WorkStatus{event.WorkRunning, event.WorkOK, event.WorkFailed}).Draw(t, "status")
			return run.Fact{Type: event.SubAgentStatus, Payload: event.SubAgentStatusPayload{AgentID: agent, Status: status}}
		case 16:
			return run.StateChange{State: "busy"}
		case 17:
			return run.Artifact{ArtifactCreatedPayload: event.ArtifactCreatedPayload{Type: "file", Filename: "f"}}
		case 18:
			return run.Fact{Type: event.SessionMetrics, Payload: raw(values.Draw(t, "fact"))}
		case 19:
			return run.Asked{PromptRequestedPayload: event.PromptRequestedPayload{RequestID: "req_1", Input: raw(`{}`), Asks: event.Person}}
		case 20:
			return run.Decided{PromptAnsweredPayload: event.PromptAnsweredPayload{RequestID: "req_1", Decision: event.Deny}}
		case 22:
			return run.Delivered{PromptDeliveredPayload: event.PromptDeliveredPayload{RequestID: "req_1", Decision: event.Deny}}
		case 21:
			return run.Done{Answer: rapid.StringN(0, 5, -1).Draw(t, "answer")}
		default:
			return run.Failure{ErrorObj: event.ErrorObj{Message: "boom"}}
		}
	})
	return rapid.SliceOfN(one, 0, 60)
}

func TestWhateverAnAgentSaysTheLogIsWellFormed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := run.New((&counters{}).options())
		got := n.Start("", time.Unix(0, 0))
		for _, e := range agentEvents().Draw(t, "events") {
			got = append(got, n.Step(e)...)
		}
		got = append(got, n.Close(run.Interrupted(fault.ProcessLost))...)
		checkLog(t, got)
		checkPlaces(t, run.StateDispatched, got)
	})
}

// checkPlaces holds each event of a log to where in a run's life it has its place.
func checkPlaces(t fatal, s run.State, log []run.Candidate) {
	t.Helper()
	for i, c := range log {
		if !c.Type.Legal().Has(s.Phase()) {
			t.Fatalf("%d: %s in state %s", i, c.Type, s)
		}
		s, _ = run.Advance(s, c.Type, 0)
	}
}

// A cancel may come at any time. What the agent says after it is in its place, and so is the end that the edge gives the run.
func TestACancelAnywhereLeavesEveryEventInItsPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := run.New((&counters{}).options())
		events := agentEvents().Draw(t, "events")
		at := rapid.IntRange(0, len(events)).Draw(t, "at")
		log := n.Start("", time.Unix(0, 0))
		for i, e := range events {
			if i == at && !n.Ended() {
				log = append(log, run.Candidate{Type: event.RunCancelling})
			}
			log = append(log, n.Step(e)...)
		}
		if at == len(events) && !n.Ended() {
			log = append(log, run.Candidate{Type: event.RunCancelling})
		}
		checkPlaces(t, run.StateDispatched, append(log, n.Close(run.Cancelled(true))...))
	})
}

func TestRestoredRunContinuesAsIfNeverInterrupted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := agentEvents().Draw(t, "events")
		cutAt := rapid.IntRange(0, len(events)).Draw(t, "cut")
		ids := &counters{}
		n := run.New(ids.options())
		log := n.Start("/w", time.Unix(0, 0))
		for _, e := range events[:cutAt] {
			log = append(log, n.Step(e)...)
		}
		journal := rows(t, mergeSome(t, log))
		after := *ids // ids go on where they were
		restored, err := run.Restore(after.options(), journal)
		if err != nil {
			t.Fatalf("restore: %v", err)
		}
		for i, e := range events[cutAt:] {
			want, got := lines(t, n.Step(e)), lines(t, restored.Step(e))
			if !slices.Equal(got, want) {
				t.Fatalf("step %d after the cut: restored %q, uninterrupted %q", i, got, want)
			}
		}
		end := run.Interrupted(fault.ProcessLost)
		if want, got := lines(t, n.Close(end)), lines(t, restored.Close(end)); !slices.Equal(got, want) {
			t.Fatalf("close: restored %q, uninterrupted %q", got, want)
		}
		if n.Ended() != restored.Ended() || !slices.Equal(n.Unheard(), restored.Unheard()) {
			t.Fatalf("restored: ended %v, unheard %v; uninterrupted: %v, %v", restored.Ended(), restored.Unheard(), n.Ended(), n.Unheard())
		}
	})
}

// mergeSome joins neighbouring deltas as the journal does under load.
func mergeSome(t *rapid.T, log []run.Candidate) []run.Candidate {
	var out []run.Candidate
	for _, c := range log {
		if len(out) > 0 && rapid.Bool().Draw(t, "busy") {
			if merged, ok := run.Merge(out[len(out)-1], c); ok {
				out[len(out)-1] = merged
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

func TestALogCutAnywhereCanBeClosed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := run.New((&counters{}).options())
		log := n.Start("", time.Unix(0, 0))
		for _, e := range agentEvents().Draw(t, "events") {
			log = append(log, n.Step(e)...)
		}
		log = log[:rapid.IntRange(0, len(log)).Draw(t, "rows")]
		restored, err := run.Restore(run.Options{}, rows(t, log))
		if err != nil {
			t.Fatalf("restore: %v", err)
		}
		checkLog(t, append(log, restored.Close(run.Interrupted(fault.ProcessLost))...))
	})
}

func TestRestoreKnowsTextThatWasKeptAside(t *testing.T) {
	log := []run.Candidate{
		{Type: event.MessageStarted, Payload: event.MessageStartedPayload{MessageID: "msg_1"}},
		{Type: event.MessageDone, Payload: event.MessageCompletedPayload{MessageID: "msg_1", ContentBlob: &event.BlobRef{Size: 1}}},
	}
	n, err := run.Restore(run.Options{}, rows(t, log))
	if err != nil {
		t.Fatal(err)
	}
	got := lines(t, n.Step(run.Done{Answer: "the same text again"}))
	if !slices.Equal(got, []string{`run.completed {"message_id":"msg_1"}`}) {
		t.Errorf("got %q", got)
	}
}

func TestRestoreRefusesAPayloadOfAnotherShape(t *testing.T) {
	for _, row := range []event.Envelope{
		{Seq: 7, Type: "item.created", Payload: raw(`{"message_id":1}`)},
		{Seq: 7, Type: "run.agent.tool_call", Payload: raw(`{"tool_call_id":[]}`)},
	} {
		if _, err := run.Restore(run.Options{}, []event.Envelope{row}); err == nil || !strings.Contains(err.Error(), "row 7") {
			t.Errorf("%s: error %v", row.Type, err)
		}
	}
}

// FuzzRestore feeds a restored Normaliser from rows of any content and then closes it.
func FuzzRestore(f *testing.F) {
	for _, seed := range []string{
		"item.created\t{\"message_id\":\"m\"}\nrun.agent.text_delta\t{\"message_id\":\"m\",\"delta\":\"x\"}",
		"run.agent.tool_call\t{\"tool_call_id\":\"a\",\"tool_name\":\"n\"}\nrun.agent.tool_result\t{\"tool_call_id\":\"a\",\"error\":{}}",
		"run.agent.tool_result\t{\"tool_call_id\":\"a\"}",
		"run.finished\t{}\nrun.failed\t{}",
		"run.agent.text_block\t{\"content\":\"x\"}\nx\tnot json",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var journal []event.Envelope
		for line := range strings.Lines(text) {
			name, payload, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			journal = append(journal, event.Envelope{Type: event.WireType(name), Payload: raw(payload)})
		}
		n, err := run.Restore(run.Options{}, journal)
		if err != nil {
			return
		}
		closing := n.Close(run.Failed(event.ErrorObj{Message: fmt.Sprint(len(journal))}))
		for _, c := range closing {
			if _, err := c.Encode(); err != nil {
				t.Fatalf("encode %s: %v", c.Type, err)
			}
		}
		if !n.Ended() || n.Step(run.Delta{Text: "late"}) != nil {
			t.Fatal("not ended")
		}
	})
}
