package run_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

func asked() run.Asked {
	return run.Asked{PromptRequestedPayload: event.PromptRequestedPayload{
		RequestID: "req_1", Kind: event.PromptPermission, ToolName: "Bash", Input: raw(`{"n":1.0}`), AgentRequestID: "1", Digest: "d", Asks: event.Person,
	}}
}

func TestStepsOfAPromptAreEventsOfTheirOwn(t *testing.T) {
	got := lines(t, play(
		asked(),
		run.Decided{PromptAnsweredPayload: event.PromptAnsweredPayload{RequestID: "req_1", Decision: event.Deny, By: event.Policy, Policy: "deny-all"}},
		run.Delivered{PromptDeliveredPayload: event.PromptDeliveredPayload{RequestID: "req_1", Decision: event.Deny}},
	)[1:])
	want := []string{
		`run.prompt.requested {"request_id":"req_1","kind":"permission","tool_name":"Bash","input":{"n":1.0},"agent_request_id":"1","digest":"d","asks":"person"}`,
		`run.prompt.answered {"request_id":"req_1","decision":"deny","by":"policy","policy":"deny-all"}`,
		`run.prompt.delivered {"request_id":"req_1","decision":"deny"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestWordsAroundAPromptAreBounded(t *testing.T) {
	a := asked()
	a.Description, a.ToolCallID = strings.Repeat("é", 20000), strings.Repeat("é", 20000)
	for _, row := range rows(t, play(a)) {
		if len(row.Payload) > 9<<10 {
			t.Errorf("%s has %d bytes", row.Type, len(row.Payload))
		}
	}
}

func TestProcessThatEndsWhileAPersonIsAskedClosesWhatIsOpenAndNothingElse(t *testing.T) {
	n := run.New((&counters{}).options())
	log := slices.Concat(n.Step(run.Delta{Text: "half"}), n.Step(run.ToolCall{ID: "t1", Name: "Bash"}), n.Step(asked()))
	ended := n.Close(run.ProcessEnded(event.EndedAtTurnLimit, []id.Request{"req_1"}))
	want := []event.Type{event.MessageDone, event.ToolFailed, event.RunProcessEnded}
	if !slices.Equal(types(ended), want) || n.Ended() {
		t.Errorf("closed with %v, ended %v", types(ended), n.Ended())
	}
	if last := lines(t, ended)[2]; last != `run.process_ended {"reason":"turn_limit","code":"timeout","pending":["req_1"]}` {
		t.Error(last)
	}
	if again := slices.Concat(n.Step(run.Delta{Text: "late"}), n.Step(asked()), n.Close(run.ProcessEnded(event.EndedUnseen, nil))); len(again) > 0 {
		t.Errorf("said afterwards: %v", types(again))
	}
	restored, err := run.Restore(run.Options{}, rows(t, append(log, ended...)))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []*run.Normaliser{n, restored} {
		terminal := n.Close(run.Cancelled(true))
		if !slices.Equal(types(terminal), []event.Type{event.RunCancelled}) || !n.Ended() || n.Close(run.Completed()) != nil {
			t.Errorf("ended with %v", types(terminal))
		}
	}
}

func TestARequestToAPersonIsUnheardUntilItsAnswerIsDelivered(t *testing.T) {
	first, second, ruled := asked(), asked(), asked()
	second.RequestID, ruled.RequestID, ruled.Asks = "req_2", "req_3", event.Policy
	n := run.New(run.Options{})
	var log []run.Candidate
	say := func(events ...run.AgentEvent) {
		for _, e := range events {
			log = append(log, n.Step(e)...)
		}
	}
	expect := func(want ...id.Request) {
		t.Helper()
		restored, err := run.Restore(run.Options{}, rows(t, log))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(n.Unheard(), want) || !slices.Equal(restored.Unheard(), want) {
			t.Errorf("unheard %v, restored %v, want %v", n.Unheard(), restored.Unheard(), want)
		}
	}
	expect()
	say(first, second, ruled)
	expect("req_1", "req_2")
	say(run.Delivered{PromptDeliveredPayload: event.PromptDeliveredPayload{RequestID: "req_1", Decision: event.Deny}})
	expect("req_2")
	say(run.Delivered{PromptDeliveredPayload: event.PromptDeliveredPayload{RequestID: "req_2", Decision: event.Allow}})
	expect()
}

func TestLargeInputOfAPromptIsKeptAside(t *testing.T) {
	a := asked()
	a.Input = raw(`{"content":"` + strings.Repeat("x", 5000) + `"}`)
	var kept []byte
	c, err := play(a)[1].Spill(4096, func(value []byte) (event.BlobRef, error) {
		kept = value
		return event.BlobRef{SHA256: "s", Size: int64(len(value))}, nil
	})
	p, ok := c.Payload.(event.PromptRequestedPayload)
	if err != nil || !ok || string(p.Input) != `{}` || p.InputBlob == nil || string(kept) != string(a.Input) || p.Digest != "d" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestACallOfAClientsToolIsNoQuestionToAPerson(t *testing.T) {
	n := run.New(run.Options{})
	call := run.ToolCall{ID: strings.Repeat("long", 100), Name: "open_url", Args: raw(`{"url":"x"}`), Target: event.TargetClient}
	ask := run.Asked{PromptRequestedPayload: event.PromptRequestedPayload{
		RequestID: "req_1", Kind: event.PromptClientTool, ToolName: "open_url", Input: raw(`{"url":"x"}`), ToolCallID: call.ID, Digest: "d", Asks: event.Client, TimeoutMS: 1,
	}}
	log := slices.Concat(n.Step(call), n.Step(ask))
	started, asked := first[event.ToolStartedPayload](t, log, event.ToolStarted), first[event.PromptRequestedPayload](t, log, event.PromptRequested)
	if started.Target != event.TargetClient || asked.ToolCallID != started.ToolCallID {
		t.Errorf("started %+v, asked %+v", started, asked)
	}
	restored, err := run.Restore(run.Options{}, rows(t, log))
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]*run.Normaliser{"": n, "restored": restored} {
		if unheard := n.Unheard(); len(unheard) > 0 {
			t.Errorf("%s: a person is asked %v", name, unheard)
		}
		if said := n.Step(run.ToolResult{ID: call.ID, Name: "open_url"}); len(said) > 0 {
			t.Errorf("%s: the agent ends the client's call: %v", name, types(said))
		}
		closed := n.Close(run.ProcessEnded(event.EndedUnseen, nil))
		if got := types(closed); !slices.Equal(got, []event.Type{event.ToolFailed, event.RunProcessEnded}) {
			t.Errorf("%s: closed with %v", name, got)
		}
	}
}
