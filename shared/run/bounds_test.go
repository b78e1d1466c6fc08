package run_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

func TestLongTextIsCutAtCharactersIntoRows(t *testing.T) {
	text := strings.Repeat("a", 16<<10-1) + strings.Repeat("€\u0000", 20000)
	got := play(run.Delta{Text: text})
	rows(t, got)
	var joined strings.Builder
	for _, c := range got[2:] {
		joined.WriteString(c.Payload.(event.DeltaPayload).Delta)
	}
	if len(got) < 5 || joined.String() != text {
		t.Errorf("%d rows, text kept: %v", len(got), joined.String() == text)
	}
}

func TestMessageBeyondEightMiBContinuesInTheNext(t *testing.T) {
	n := run.New((&counters{}).options())
	chunk := strings.Repeat("x", 16<<10)
	var got []run.Candidate
	for range 513 {
		got = append(got, n.Step(run.Delta{Text: chunk})...)
	}
	got = append(got, n.Step(run.Done{Answer: "ignored"})...)
	var messages []event.MessageCompletedPayload
	for _, c := range got {
		if m, ok := c.Payload.(event.MessageCompletedPayload); ok {
			messages = append(messages, m)
		}
	}
	if len(messages) != 2 || len(messages[0].Content) != 8<<20 || len(messages[1].Content) != 16<<10 {
		t.Fatalf("%d messages", len(messages))
	}
	if done := first[event.RunCompletedPayload](t, got, event.RunCompleted); done.MessageID != messages[1].MessageID {
		t.Errorf("final message is %q", done.MessageID)
	}
}

func TestBrokenUTF8InTextIsMendedBeforeItIsHashed(t *testing.T) {
	got := play(run.Delta{Text: "a\xffb"}, run.Done{})
	m := first[event.MessageCompletedPayload](t, got, event.MessageDone)
	if m.Content != "a\uFFFDb" || m.ContentChecksum != event.TextChecksum("a\uFFFDb") {
		t.Errorf("%+v", m)
	}
}

func TestNamesAndSentencesAreBounded(t *testing.T) {
	long := strings.Repeat("é", 20000)
	got := play(
		run.StateChange{State: long},
		run.Artifact{ArtifactCreatedPayload: event.ArtifactCreatedPayload{Filename: long, ContentType: long}},
		run.ToolCall{ID: "a", Name: long},
		run.ToolResult{ID: "a", Error: &event.ErrorObj{Message: long}},
		run.Failure{ErrorObj: event.ErrorObj{Code: "x", Message: long}},
	)
	for _, row := range rows(t, got) {
		if len(row.Payload) > 9<<10 {
			t.Errorf("%s has %d bytes", row.Type, len(row.Payload))
		}
	}
}

func TestFactsPassButNotInTheNormalisersPlace(t *testing.T) {
	for _, c := range []struct {
		fact run.Fact
		want string
	}{
		{run.Fact{Type: event.SessionMetrics, Payload: raw(`{"tokens":1}`)}, `run.agent.session_metrics {"tokens":1}`},
		{run.Fact{Type: event.SessionInit, Payload: event.SessionInitPayload{AgentSessionID: "s"}}, `run.agent.session_init {"agent_session_id":"s"}`},
		{run.Fact{Type: event.RunOutputBatch, Payload: event.OutputBatchPayload{Stream: "stderr", Lines: []string{"<"}}}, `run.output.batch {"stream":"stderr","lines":["<"]}`},
		{run.Fact{Type: "run.agent.something_new"}, `run.agent.something_new {}`},
		{run.Fact{Type: event.SessionMetrics, Payload: raw(`{"a":"` + strings.Repeat("x", 200000) + `"}`)}, `run.agent.session_metrics {"omitted_bytes":200008}`},
		{
			run.Fact{Type: "run.agent.something_new", Payload: raw(`{"api_key":"k","at":{"password":"p","input_tokens":1.0},"usage":{"token":"t"}}`)},
			`run.agent.something_new {"at":{"input_tokens":1.0},"usage":{"token":"t"},"omitted_keys":["api_key","password"]}`,
		},
		{run.Fact{Type: "run.agent.something_new", Payload: raw(`{"secret":"s"}`)}, `run.agent.something_new {"omitted_keys":["secret"]}`},
		{run.Fact{Type: event.RunCheckpoint, Payload: raw(`{"cookie":"s"}`)}, `run.checkpoint {"omitted_keys":["cookie"]}`},
		{run.Fact{Type: event.SessionMetrics, Payload: raw(`[1]`)}, ""},
		{run.Fact{Type: event.SessionMetrics, Payload: raw(`{`)}, ""},
		{run.Fact{Type: event.SessionMetrics, Payload: raw(strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40))}, ""},
		{run.Fact{Type: event.RunCompleted}, ""},
		{run.Fact{Type: event.MessageDelta}, ""},
		{run.Fact{Type: event.Thinking}, ""},
		{run.Fact{Type: "run.finished"}, ""},
		{run.Fact{Type: "run.agent.text_delta"}, ""},
		{run.Fact{Type: "run.agent.tool_result"}, ""},
		{run.Fact{Type: "run.agent.permission_decided"}, ""},
		{run.Fact{Type: event.PromptAnswered}, ""},
		{run.Fact{Type: event.RunProcessEnded}, ""},
		{run.Fact{Type: "run.agent.plan_approved"}, ""},
		{run.Fact{Type: "run.agent.bad name"}, ""},
	} {
		got := lines(t, play(c.fact)[1:])
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || got[0] != c.want) {
			t.Errorf("%s: got %.200q, want %q", c.fact.Type, got, c.want)
		}
	}
}

func TestLargeValuesAreKeptAsideAndNamed(t *testing.T) {
	ref := event.BlobRef{SHA256: strings.Repeat("a", 64), Size: 5000}
	big := strings.Repeat("x", 5000)
	bigJSON, err := json.Marshal(big)
	if err != nil {
		t.Fatal(err)
	}
	got := play(run.Delta{Text: big}, run.ToolCall{ID: "a", Args: bigJSON}, run.ToolResult{ID: "a", Result: bigJSON}, run.Done{})
	var kept []string
	for _, c := range got {
		spilled, err := c.Spill(4096, func(value []byte) (event.BlobRef, error) {
			kept = append(kept, string(value))
			return ref, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		switch p := spilled.Payload.(type) {
		case event.MessageCompletedPayload:
			if p.Content != "" || *p.ContentBlob != ref || p.ContentChecksum != event.TextChecksum(big) {
				t.Errorf("message %+v", p)
			}
		case event.ToolStartedPayload:
			if string(p.Arguments) != "{}" || *p.ArgumentsBlob != ref {
				t.Errorf("tool call %+v", p)
			}
		case event.ToolCompletedPayload:
			if p.Result != nil || *p.ResultBlob != ref || p.ResultChecksum == "" {
				t.Errorf("tool result %+v", p)
			}
		}
	}
	if len(kept) != 3 || kept[0] != string(bigJSON) || kept[2] != big {
		t.Errorf("kept %d values", len(kept))
	}
}

func TestSmallValuesAndFailuresOfTheStoreLeaveACandidateAlone(t *testing.T) {
	c := run.Candidate{Type: event.MessageDone, Payload: event.MessageCompletedPayload{Content: "12345"}}
	same, err := c.Spill(5, nil)
	if err != nil || same != c {
		t.Errorf("got %+v, %v", same, err)
	}
	broken := errors.New("disk full")
	same, err = c.Spill(4, func([]byte) (event.BlobRef, error) { return event.BlobRef{}, broken })
	if !errors.Is(err, broken) || same != c {
		t.Errorf("got %+v, %v", same, err)
	}
}
