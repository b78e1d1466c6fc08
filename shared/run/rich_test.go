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

const opaque = "{ \"sig\" : 1.0, \"n\":1e400, \"u\":\"\\u003c<\" }"

func TestFidelityStaysWithWhatItBelongsTo(t *testing.T) {
	kept := event.NewFidelity(raw(opaque))
	got := lines(t, play(
		run.Delta{Channel: run.Thought, Text: "hm"}, run.Delta{Channel: run.Thought, Last: true, Fidelity: kept},
		run.Delta{Text: "so"}, run.Delta{Last: true, Fidelity: kept},
		run.ToolCall{ID: "a", Name: "read", Fidelity: kept},
		run.Delta{Channel: run.Thought, Apart: true, Last: true, Fidelity: kept},
	)[1:])
	var with []string
	for _, line := range got {
		if _, after, ok := strings.Cut(line, `"fidelity":`); ok && after == opaque+"}" {
			kind, _, _ := strings.Cut(line, " ")
			with = append(with, kind)
		}
	}
	if want := []string{"run.agent.thinking", "message.completed", "tool.call.started", "run.agent.thinking"}; !slices.Equal(with, want) {
		t.Errorf("with their fidelity %q of\n%s", with, strings.Join(got, "\n"))
	}
}

func TestWhatIsOpenAtTheEndWasCutOffAsTheRunWas(t *testing.T) {
	for _, c := range []struct {
		outcome run.Outcome
		want    event.RequestStatus
	}{
		{run.Completed(), ""}, {run.Cancelled(true), event.RequestAborted}, {run.Interrupted(fault.ProcessLost), event.RequestFailed},
		{run.Failed(event.ErrorObj{Code: fault.AgentError}), event.RequestFailed}, {run.Failed(event.ErrorObj{Code: fault.Timeout}), event.RequestTimeout},
		{run.ProcessEnded(event.EndedAtTurnLimit, nil), event.RequestTimeout}, {run.ProcessEnded(event.EndedUnseen, nil), event.RequestFailed},
	} {
		n := run.New((&counters{}).options())
		n.Start("", time.Unix(0, 0))
		n.Step(run.Delta{Text: "half"})
		n.Step(run.Delta{Text: "too", Agent: "sub"})
		log := n.Close(c.outcome)
		for _, at := range log[:2] {
			if p := at.Payload.(event.MessageCompletedPayload); p.StopReason != c.want {
				t.Errorf("%s: %q, want %q", log[len(log)-1].Type, p.StopReason, c.want)
			}
		}
	}
}

func TestARequestThatBreaksOffEndsItsMessage(t *testing.T) {
	got := lines(t, play(
		run.Delta{Text: "ha"}, run.Delta{Text: "sub", Agent: "sub"},
		run.Fact{Type: event.RequestEnd, Payload: event.RequestEndPayload{RequestID: "1", Status: event.RequestMalformed}},
		run.Delta{Text: "whole"}, run.Fact{Type: event.RequestEnd, Payload: event.RequestEndPayload{RequestID: "2", Status: event.RequestCompleted}},
		run.Done{},
	))
	var done []string
	for _, line := range got {
		if strings.HasPrefix(line, "message.completed") || strings.HasPrefix(line, "run.agent.request_end") {
			done = append(done, line)
		}
	}
	if len(done) != 5 || !strings.Contains(done[0], `"content":"ha"`) || !strings.Contains(done[0], `"stop_reason":"malformed"`) ||
		!strings.HasPrefix(done[1], "run.agent.request_end") || strings.Contains(done[4], "stop_reason") {
		t.Errorf("%s", strings.Join(done, "\n"))
	}
}

func TestAPermissionIsOfTheCallWithItsInput(t *testing.T) {
	ask := func(call, input string) run.Asked {
		digest, err := event.PromptDigest("bash", raw(input))
		if err != nil {
			t.Fatal(err)
		}
		return run.Asked{PromptRequestedPayload: event.PromptRequestedPayload{
			RequestID: "req_1", Kind: event.PromptPermission, ToolName: "bash", Input: raw(input), ToolCallID: call, Digest: digest, Asks: event.Person,
		}}
	}
	log := play(
		run.ToolCall{ID: "a", Name: "bash", Args: raw(`{"n": 1.0}`)}, run.ToolCall{ID: "b", Name: "bash", Args: raw(`{"n":2}`)},
		run.ToolCall{ID: "c", Name: "bash", Args: raw(`{"n":2}`)}, run.ToolCall{ID: "d", Name: "bash", Args: raw(`{"n":3}`)},
		ask("", `{"n":2}`), ask("", `{"n":2}`), ask("", `{"n":2}`), ask("", `{"n":1.0}`), ask("mine", `{"n":3}`), ask("d", `{"n":3}`), ask("", `{"n":3}`), ask("", `{"n":4}`),
	)
	var about []string
	for _, c := range log {
		if p, ok := c.Payload.(event.PromptRequestedPayload); ok {
			about = append(about, p.ToolCallID)
		}
	}
	if want := []string{"b", "c", "", "a", "mine", "d", "", ""}; !slices.Equal(about, want) {
		t.Errorf("about %q, want %q", about, want)
	}
}

func TestOutputOfACallShowsWhileItIsOpen(t *testing.T) {
	piece := func(call, text string) run.Delta { return run.Delta{Channel: run.ToolOutput, Call: call, Text: text} }
	log := play(
		piece("a", "early"), run.ToolCall{ID: "a", Name: "bash"}, piece("a", strings.Repeat("x", 20<<10)), piece("b", "nobody's"),
		run.ToolResult{ID: "a", Result: raw(`"done"`)}, piece("a", "late"),
	)
	var shown int
	for _, c := range log {
		if p, ok := c.Payload.(event.ToolOutputPayload); ok {
			shown += len(p.Delta)
		}
	}
	if shown != 20<<10 || slices.Contains(types(log), event.MessageStarted) {
		t.Errorf("shown %d bytes: %v", shown, types(log))
	}
}

func TestImagesOfAResultAreThoseThatCanBePassedOn(t *testing.T) {
	good := "data:image/png;base64,aGk="
	log := play(run.ToolCall{ID: "a", Name: "look"}, run.ToolResult{ID: "a", Result: raw(`""`), Images: []string{
		good, "https://example.org/a.png", "data:text/plain;base64,aGk=", "data:image/png;base64,a-k", good,
	}})
	if p := first[event.ToolCompletedPayload](t, log, event.ToolCompleted); !slices.Equal(p.Images, []string{good, good}) {
		t.Errorf("kept %q", p.Images)
	}
}

func TestWhatAModelRunsWithIsKeptAndItsLargeValuesLieBesideTheLog(t *testing.T) {
	tools := `[{"name":"login","description":"x","parameters":{"type":"object","properties":{"password":{"type":"string"}}}}]`
	log := play(run.Fact{Type: event.SessionInit, Payload: raw(
		`{"agent_session_id":"s","model":"m","provider":"p","model_context_window":8192,"system_prompt":"` + strings.Repeat("x", 200<<10) + `","tools":` + tools +
			`,"agent_state":"/s","tools_blob":{"sha256":"made up"}}`)})
	var kept []string
	c, err := log[1].Spill(100, func(value []byte) (event.BlobRef, error) {
		kept = append(kept, string(value))
		return event.BlobRef{SHA256: "0a", Size: int64(len(value))}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p := c.Payload.(event.SessionInitPayload)
	if len(kept) != 2 || kept[1] != tools || p.SystemPrompt != "" || p.SystemPromptBlob == nil || p.Tools != nil || p.ToolsBlob.SHA256 != "0a" ||
		string(p.ModelContextWindow) != "8192" || p.AgentState != "/s" || len(c.Blobs()) != 2 {
		t.Errorf("kept %d values, left %+v", len(kept), p)
	}
	for window, want := range map[string]string{`"large"`: `"large"`, `0`: ``, `1.5`: ``, `{}`: ``, `""`: ``} {
		log := play(run.Fact{Type: event.SessionInit, Payload: raw(`{"agent_session_id":"s","model_context_window":` + window + `,"tools":{}}`)})
		if p := log[1].Payload.(event.SessionInitPayload); string(p.ModelContextWindow) != want || p.Tools != nil {
			t.Errorf("%s: %+v", window, p)
		}
	}
}
