package omni_test

import (
	"bytes"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	omnifold "github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// TestWhoComesInTheMiddleGoesOnWithOpen has a reader come behind each fact: what is open then, and what follows, adds up to the messages that follow.
func TestWhoComesInTheMiddleGoesOnWithOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		facts := conversation(t)
		came := rapid.IntRange(0, len(facts)).Draw(t, "came")
		s := omnifold.New(conversationID)
		for _, f := range facts[:came] {
			s.Apply(f)
		}
		stream := restored(t, s).Open()
		if again := s.Open(); !bytes.Equal(joined(again), joined(stream)) {
			t.Fatalf("open after a restart:\n%s\nbefore:\n%s", joined(stream), joined(again))
		}
		for _, f := range facts[came:] {
			stream = append(stream, s.Apply(f)...)
		}
		checkAggregates(t, stream)
	})
}

func TestNothingIsLeftOfRunsThatHaveEnded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := omnifold.New(conversationID)
		for _, f := range conversation(t) {
			s.Apply(f)
		}
		if left := len(s.Asks()) + len(s.Waiting()) + len(s.Compacting()) + len(s.Steering()) + len(s.Open()); left > 0 {
			t.Fatalf("%d things are left: %+v %+v", left, s.Asks(), s.Waiting())
		}
	})
}

func after(s *scene) *omnifold.State {
	state := omnifold.New(conversationID)
	for _, f := range s.facts {
		state.Apply(f)
	}
	return state
}

func TestAsksAreUnderTheNamesOfTheStream(t *testing.T) {
	const ask = `,"kind":"permission","tool_name":"bash","input":{"command":"ls"},"digest":"x","asks":"person"}`
	s := begun().calls("a").run(event.ToolCompleted, `{"tool_call_id":"a","result":"ok","result_checksum":"x"}`).calls("a").
		run(event.PromptRequested, `{"request_id":"req_1","tool_call_id":"a"`+ask).
		run(event.PromptRequested, `{"request_id":"req_2","tool_call_id":"b"`+ask).
		run(event.PromptRequested, `{"request_id":"req_3"`+ask).
		run(event.TaskStarted, `{"agent_id":"sub_1","name":"helper","task_prompt":"Help."}`).
		run(event.PromptRequested, `{"request_id":"req_4","agent_id":"sub_1","tool_call_id":"a2"`+ask).
		run(event.PromptRequested, `{"request_id":"req_5","kind":"permission","tool_name":"bash","digest":"x","asks":"policy"}`)
	ofCall := func(request id.Request, call string, origin ...string) omnifold.Ask {
		return omnifold.Ask{Request: request, Run: theRun, ToolCallID: call, Tool: "bash", Input: `{"command":"ls"}`, Origin: origin}
	}
	want := []omnifold.Ask{
		ofCall("req_1", "a#2"), ofCall("req_2", "b"), ofCall("req_3", "req_3"), ofCall("req_4", "a2", string(theRun)+"/sub_1"),
	}
	if got := after(s).Asks(); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	s.run(event.PromptAnswered, `{"request_id":"req_1","decision":"allow","by":"person"}`).run(event.PromptExpired, `{"request_id":"req_3","reason":"timeout"}`)
	if got := after(s).Asks(); len(got) != 2 || got[0].Request != "req_2" || got[1].Request != "req_4" {
		t.Errorf("after two answers %+v", got)
	}
}

func TestARunWaitsBetweenARequestThatFailedAndTheNext(t *testing.T) {
	s := begun().says("There").run(event.APIRetry, `{"attempt":1,"retry_in_ms":2000,"error":{"code":"timeout","message":"Overloaded.","retryable":true}}`)
	if got := after(s).Waiting(); len(got) != 1 || got[0] != theRun {
		t.Errorf("waiting: %v", got)
	}
	if got := after(s.says("There")).Waiting(); len(got) != 0 {
		t.Errorf("waiting when it speaks again: %v", got)
	}
}

func TestWhatIsTakenBackBeforeItIsToldIsNotTold(t *testing.T) {
	s := after(new(scene).person("first").person("second").person("third"))
	s.Revise(1, omnifold.Message{})
	s.Revise(3, omnifold.Message{Text: "3rd"})
	told := s.Apply(omnifold.Fact{
		Place: 4, Run: omnifold.Run{ID: theRun}, Event: event.MessageDelta, Payload: []byte(`{"message_id":"msg_1","content_index":0,"delta":"x"}`),
	})
	var texts []string
	for _, m := range told {
		if body, err := m.Body(); err != nil {
			t.Fatal(err)
		} else if text, ok := body.(omni.TextPayload); ok {
			texts = append(texts, text.Text)
		}
	}
	if !reflect.DeepEqual(texts, []string{"second", "3rd"}) {
		t.Errorf("told %q", texts)
	}
}
