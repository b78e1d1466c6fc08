package omni_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	omnifold "github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

const fidelity = `"fidelity":` + verbatim

func (s *scene) writes(call, tool, piece string) *scene {
	return s.run(event.ToolInput, `{"message_id":"msg_1","tool_call_id":"`+call+`","tool_name":"`+tool+`","partial_json":"`+piece+`"}`)
}

func (s *scene) puts(call, piece string) *scene {
	return s.run(event.ToolOutput, `{"tool_call_id":"`+call+`","delta":"`+piece+`"}`)
}

func (s *scene) returns(call, result string) *scene {
	return s.run(event.ToolCompleted, `{"tool_call_id":"`+call+`","result":`+result+`,"result_checksum":"x"}`)
}

// richScenarios are of agents that tell all that S1 has a field for.
func richScenarios() map[string]func() *scene {
	return map[string]func() *scene{
		"whole_context": func() *scene {
			return new(scene).person("Hi.").run(event.SessionInit, `{"agent_session_id":"s","model":"m-1","provider":"ollama","model_context_window":8192,`+
				`"system_prompt":"Be <brief>.","tools":[{"name":"read","description":"Reads.","parameters":{"b":1.0,"a":{}}},{"name":""},7],"agent_state":"/home/u/.chat"}`).
				run(event.MCPConnectBegin, `{"servers":["files"]}`).
				run(event.MCPConnectEnd, `{"status":"failed","results":[{"server":"files","transport":"stdio","status":"failed","duration_ms":3,"error":"Away."}]}`).
				run(event.ToolListReady, `{"tools":[{"name":"read"}]}`).
				run(event.Thinking, `{"message_id":"msg_1","content_index":0,"delta":"Hm.","last":true,`+fidelity+`}`).
				run(event.Thinking, `{"message_id":"msg_1","content_index":0,"delta":"","last":true,`+fidelity+`}`).
				run(event.Thinking, `{"message_id":"msg_1","content_index":0,"delta":"","last":true,"fidelity_dropped":"secret"}`).
				run(event.MessageDone, `{"message_id":"msg_1","content":"Hello.","content_checksum":"x",`+fidelity+`}`).
				run(event.ToolStarted, `{"tool_call_id":"a","tool_name":"read","arguments":{"a": 1},`+fidelity+`}`).returns("a", `"x"`).
				run(event.RunCompleted, completed)
		},
		"written_calls": func() *scene {
			return begun().says("I look. ").writes("a", "bash", `{\"command\" :`).writes("b", "", `{\"command\":`).writes("a", "bash", ` \"ls\"}`).
				writes("b", "bash", `\"ls\"}`).calls("b").calls("a").calls("a").returns("b", `"x.go"`).returns("a", `"y.go"`).
				run(event.RunCompleted, completed)
		},
		"a_call_with_other_arguments": func() *scene {
			return begun().writes("a", "bash", `{\"command\":\"rm\"}`).calls("a").returns("a", `"x.go"`).
				writes("b", "bash", `{\"command\":\"rm\"}`).
				run(event.RequestBegin, `{"request_id":"1"}`).run(event.RequestEnd, `{"request_id":"1","status":"completed"}`).
				calls("b").returns("b", `"x.go"`).run(event.RunCompleted, completed)
		},
		"a_call_that_was_not_written_to_its_end": func() *scene {
			return begun().run(event.RequestBegin, `{"request_id":"1"}`).writes("a", "bash", `{\"comm`).
				run(event.RequestEnd, `{"request_id":"1","status":"timeout","error_message":"Silence.","attempt":1,"retry_in_ms":2000}`).
				run(event.RequestBegin, `{"request_id":"2","attempt":2}`).writes("a", "bash", `{\"command\":\"ls\"}`).
				run(event.RequestEnd, `{"request_id":"2","status":"completed","attempt":2}`).calls("a").returns("a", `"x.go"`).
				run(event.RunCompleted, completed)
		},
		"outputs_as_they_come": func() *scene {
			return begun().calls("a").calls("b").calls("c").puts("a", "x.go\\n").puts("b", "half").puts("a", "y.go").puts("c", "one").
				run(event.ToolCompleted, `{"tool_call_id":"a","result":"x.go\ny.go\n2 files","images":["data:image/png;base64,aGk="],"result_checksum":"x"}`).
				returns("c", `{"lines": 1}`).run(event.RunCancelling, `{"reason":"Wrong branch."}`).
				run(event.RunCancelled, `{"external_stop_confirmed":true}`)
		},
		"images": func() *scene {
			return begun().calls("a").
				run(event.ToolCompleted, `{"tool_call_id":"a","result":null,"images":["data:image/png;base64,aGk="],"result_checksum":"x"}`).
				calls("b").run(event.ToolCompleted, `{"tool_call_id":"b","result":"x","images":["no image"],"result_checksum":"x"}`).
				run(event.RunCompleted, `{}`)
		},
		"denials_without_a_word": func() *scene {
			ask := func(s *scene, call, answer string) *scene {
				return s.calls(call).run(event.PromptRequested, `{"request_id":"req_`+call+`","kind":"permission","tool_name":"bash","tool_call_id":"`+call+`","digest":"x","asks":"person"}`).
					run(event.PromptAnswered, `{"request_id":"req_`+call+`","decision":"deny",`+answer+`}`)
			}
			s := ask(begun(), "a", `"by":"person","reason":"Not there."`)
			s = ask(ask(s, "b", `"by":"person"`), "c", `"by":"policy","policy":"deny-all"`)
			return s.run(event.ToolFailed, `{"tool_call_id":"a","error":{"code":"denied","message":"","retryable":false}}`).returns("b", `null`).
				run(event.RunCompleted, `{}`)
		},
		"a_text_that_was_cut_off": func() *scene {
			return begun().says("There").run(event.MessageDone, `{"message_id":"msg_1","content":"There","content_checksum":"x","stop_reason":"timeout"}`).
				run(event.RunFailed, `{"error":{"code":"timeout","message":"Too long.","retryable":false}}`)
		},
		"told_compaction": func() *scene {
			return begun().run(event.RequestBegin, `{"request_id":"1"}`).says("Long. ").run(event.RequestEnd, `{"request_id":"1","status":"completed"}`).
				run(event.CompactionBegin, `{"reason":"manual","mode":"summarize","context":9000,"turns":4}`).
				run(event.CompactionEnd, `{"reason":"manual","mode":"summarize","status":"timeout","error_message":"Silence.","attempt":1,"retry_in_ms":2000}`).
				run(event.CompactionBegin, `{"reason":"manual","mode":"summarize","context":9000}`).
				run(event.RequestBegin, `{"request_id":"2"}`).run(event.Thinking, `{"message_id":"","content_index":0,"delta":"Short?"}`).
				run(event.MessageDelta, `{"message_id":"msg_2","content_index":0,"delta":"They listed files."}`).
				run(event.MessageDone, `{"message_id":"msg_2","content":"They listed files.","content_checksum":"x"}`).
				run(event.RequestEnd, `{"request_id":"2","status":"completed"}`).
				run(event.CompactionEnd, `{"reason":"manual","mode":"summarize","status":"completed","attempt":2}`).
				run(event.RunCompleted, completed).person("And now?")
		},
		"a_compaction_that_never_ended": func() *scene {
			return begun().says("Long. ").run(event.CompactionBegin, `{"reason":"context","mode":"discard"}`).says("Sum").
				run(event.RunInterrupted, `{"reason_code":"process_lost"}`)
		},
		"no_credentials": func() *scene {
			return begun().run(event.RunFailed, `{"error":{"code":"auth_required","message":"Change OPENAI_API_KEY.","retryable":false}}`)
		},
	}
}

func TestRichScenarios(t *testing.T) {
	for name, written := range richScenarios() {
		t.Run(name, func(t *testing.T) {
			stream := fold(written().facts)
			if err := omni.CheckStream(stream); err != nil {
				t.Error(err)
			}
			golden(t, name, joined(stream))
		})
	}
}

// TestFidelityComesOutOfTheFoldAsItIsInTheLog counts it in the facts of a conversation, and in its messages.
func TestFidelityComesOutOfTheFoldAsItIsInTheLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		facts := conversation(t)
		told := string(joined(fold(facts)))
		if strings.Count(told, `"fidelity":`) != strings.Count(told, fidelity) {
			t.Fatalf("a fidelity is another one: %s", told)
		}
		kinds := map[event.Type]bool{}
		for _, f := range facts {
			if !f.Late && strings.Contains(string(f.Payload), fidelity) {
				kinds[f.Event] = true
			}
		}
		for kind := range maps.Keys(kinds) {
			if kind != event.ToolStarted && !strings.Contains(told, fidelity) { // a call may have been told before it was made
				t.Fatalf("the fidelity of %s is lost", kind)
			}
		}
	})
}

// TestApprovalsAndUsageHaveTheirPlace holds streams to S1: an approval is between its call and its output, and the usage of an agent
// that states no requests comes with the end of one.
func TestApprovalsAndUsageHaveTheirPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		facts := conversation(t)
		stated := slices.ContainsFunc(facts, func(f omnifold.Fact) bool { return f.Event == event.RequestBegin || f.Event == event.RequestEnd })
		stream := fold(facts)
		called := map[string]bool{}
		for i, m := range stream {
			at := strings.Join(m.Origin(), "/") + " "
			switch b := bodyOf(t, m).(type) {
			case omni.ToolCallPayload:
				called[at+b.ToolCallID] = true
			case omni.ToolCallOutputPayload:
				delete(called, at+b.ToolCallID)
			case omni.ApprovalDecisionPayload:
				if !called[at+b.ToolCallID] {
					t.Fatalf("an approval of no open call: %s", m.Bytes())
				}
			case omni.TokenUsagePayload:
				next := stream[min(i+1, len(stream)-1)]
				_, ended := bodyOf(t, next).(omni.RequestEndPayload)
				if !stated && (!ended || !slices.Equal(next.Origin(), m.Origin())) {
					t.Fatalf("a usage without the end of its request: %s\nthen %s", m.Bytes(), next.Bytes())
				}
			}
		}
	})
}

// TestACallThatIsTooLongToShowIsToldWhole has more arguments in pieces than a session keeps, and as much output.
func TestACallThatIsTooLongToShowIsToldWhole(t *testing.T) {
	part := strings.Repeat("x", 300<<10)
	s := begun().writes("a", "bash", `{\"command\":\"`)
	for range 5 {
		s.writes("a", "bash", part)
	}
	s.writes("a", "bash", `\"}`).run(event.ToolStarted, `{"tool_call_id":"a","tool_name":"bash","arguments":{"command":"`+strings.Repeat(part, 5)+`"}}`)
	for range 5 {
		s.puts("a", part)
	}
	stream := fold(s.returns("a", `"`+strings.Repeat(part, 5)+`"`).run(event.RunCompleted, `{}`).facts)
	if err := omni.CheckStream(stream); err != nil {
		t.Fatal(err)
	}
	var calls, outputs []string
	for _, m := range stream {
		body, err := m.Body()
		if err != nil {
			t.Fatal(err)
		}
		switch b := body.(type) {
		case omni.ToolCallPayload:
			calls = append(calls, b.ToolCallID+string(b.StopReason))
		case omni.ToolCallOutputPayload:
			outputs = append(outputs, b.ToolCallID+string(b.StopReason))
			if b.StopReason == "" && b.Output != strings.Repeat(part, 5) {
				t.Errorf("an output of %d bytes", len(b.Output))
			}
		}
	}
	if want := []string{"amalformed", "a#2"}; !slices.Equal(calls, want) || !slices.Equal(outputs, want) {
		t.Errorf("calls %q, outputs %q", calls, outputs)
	}
}

// TestWhatAModelRunsWithIsInABlob has a prompt and tools that are kept beside the log, and images.
func TestWhatAModelRunsWithIsInABlob(t *testing.T) {
	s := new(scene)
	s.add(omnifold.Fact{
		Run: omnifold.Run{ID: theRun}, Event: event.SessionInit, Blobs: map[string]string{"x": "Be brief.", "y": `[{"name":"read","description":""}]`},
		Payload: []byte(`{"agent_session_id":"s","system_prompt_blob":{"sha256":"x","size":9},"tools_blob":{"sha256":"y","size":9}}`),
	})
	s.calls("a").add(omnifold.Fact{
		Run: omnifold.Run{ID: theRun}, Event: event.ToolCompleted, Blobs: map[string]string{"z": `["data:image/png;base64,aGk="]`},
		Payload: []byte(`{"tool_call_id":"a","result":"","images_blob":{"sha256":"z","size":5},"result_checksum":"x"}`),
	})
	text := string(joined(fold(s.facts)))
	for _, want := range []string{`"system_prompt":"Be brief."`, `"tools":[{"name":"read","description":""}]`, `"images":["data:image/png;base64,aGk="]`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
