package omni_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	omnifold "github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

const (
	theRun   = id.Run("run_0000000000000001")
	otherRun = id.Run("run_0000000000000002")
)

// scene is a conversation as a test writes it: one fact each second.
type scene struct{ facts []omnifold.Fact }

func (s *scene) add(f omnifold.Fact) *scene {
	f.Place = int64(len(s.facts) + 1)
	f.At = time.Date(2026, 7, 18, 7, 30, len(s.facts), 0, time.UTC)
	s.facts = append(s.facts, f)
	return s
}

func (s *scene) person(text string) *scene {
	return s.add(omnifold.Fact{Message: &omnifold.Message{Text: text}})
}

func (s *scene) run(t event.Type, payload string) *scene {
	return s.of(omnifold.Run{ID: theRun}, t, payload)
}

func (s *scene) of(r omnifold.Run, t event.Type, payload string) *scene {
	return s.add(omnifold.Fact{Run: r, Event: t, Payload: json.RawMessage(payload)})
}

// begun is a conversation in which a person has asked and an agent has begun.
func begun() *scene {
	return new(scene).person("List the files.").
		run(event.RunStarted, `{"started_at":"2026-07-18T07:30:01Z","workDir":"/work/app"}`).
		run(event.SessionInit, `{"agent_session_id":"s","model":"m-1"}`)
}

func (s *scene) says(text string) *scene {
	return s.run(event.MessageDelta, `{"message_id":"msg_1","content_index":0,"delta":"`+text+`"}`)
}

func (s *scene) calls(call string) *scene {
	return s.run(event.ToolStarted, `{"tool_call_id":"`+call+`","tool_name":"bash","arguments":{"command":"ls"}}`)
}

const (
	done      = `{"message_id":"msg_1","content":"There are two.","content_checksum":"x"}`
	completed = `{"message_id":"msg_1"}`
	usage     = `{"usage":{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":100}}`
)

var scenarios = map[string]func() *scene{
	"plain_turn": func() *scene {
		return begun().run(event.Thinking, `{"message_id":"","content_index":0,"delta":"Two?"}`).
			run(event.MessageStarted, `{"message_id":"msg_1","role":"assistant"}`).says("There are ").run(event.MessageDone, done).
			run(event.AgentResult, usage).run(event.RunCompleted, completed).person("Thanks.")
	},
	"tool_call": func() *scene {
		return begun().calls("a").calls("b").
			run(event.ToolCompleted, `{"tool_call_id":"b","result":"x.go","result_checksum":"x"}`).
			run(event.ToolFailed, `{"tool_call_id":"a","error":{"code":"timeout","message":"Too long.","retryable":false}}`).
			calls("a").run(event.ToolCompleted, `{"tool_call_id":"a","result":{"n": 1},"result_checksum":"x"}`).
			says("There are two.").run(event.MessageDone, done).run(event.RunCompleted, completed)
	},
	"denial": func() *scene {
		return begun().calls("a").
			run(event.PromptRequested, `{"request_id":"req_1","kind":"permission","tool_name":"bash","tool_call_id":"a","digest":"x","asks":"person"}`).
			run(event.PromptAnswered, `{"request_id":"req_1","decision":"deny","by":"person"}`).
			run(event.ToolFailed, `{"tool_call_id":"a","error":{"code":"denied","message":"No.","retryable":false}}`).
			run(event.PromptRequested, `{"request_id":"req_2","kind":"permission","tool_name":"bash","tool_call_id":"b","digest":"x","asks":"person"}`).
			run(event.PromptAnswered, `{"request_id":"req_2","decision":"allow","by":"policy"}`).
			calls("b").run(event.ToolCompleted, `{"tool_call_id":"b","result":"ok","result_checksum":"x"}`).
			run(event.RunCompleted, `{}`)
	},
	"expired": func() *scene {
		return begun().calls("a").
			run(event.PromptRequested, `{"request_id":"req_1","kind":"permission","tool_name":"bash","tool_call_id":"a","digest":"x","asks":"person"}`).
			run(event.PromptExpired, `{"request_id":"req_1","reason":"timeout"}`).run(event.RunCompleted, `{}`)
	},
	"stopped_in_a_call": func() *scene {
		return begun().calls("a").calls("b").run(event.RunCancelling, `{}`).
			run(event.ToolFailed, `{"tool_call_id":"a","error":{"code":"run_ended","message":"The run has ended.","retryable":false}}`).
			run(event.RunCancelled, `{"external_stop_confirmed":true}`)
	},
	"stopped_in_a_text": func() *scene {
		return begun().says("There are ").run(event.RunCancelled, `{"external_stop_confirmed":true}`).
			person("Go on.").add(omnifold.Fact{
			Run: omnifold.Run{ID: theRun}, Event: event.MessageDelta, Late: true,
			Payload: json.RawMessage(`{"message_id":"msg_late","content_index":0,"delta":"late"}`),
		})
	},
	"interrupted": func() *scene {
		return begun().calls("a").says("There are ").run(event.RunInterrupted, `{"reason_code":"process_lost"}`)
	},
	"timeout": func() *scene {
		return begun().run(event.Thinking, `{"message_id":"","content_index":0,"delta":"Two?"}`).
			run(event.RunFailed, `{"error":{"code":"timeout","message":"Too long.","retryable":false}}`)
	},
	"failed_before_a_word": func() *scene {
		return begun().run(event.RunFailed, `{"error":{"code":"x","message":"No.","retryable":false}}`)
	},
	"retry": func() *scene {
		return begun().says("There").
			run(event.APIRetry, `{"attempt":1,"retry_in_ms":2000,"error":{"code":"timeout","message":"Overloaded.","retryable":true}}`).
			run(event.MessageDone, `{"message_id":"msg_1","content":"There are two.","content_checksum":"x"}`).run(event.RunCompleted, completed)
	},
	"stated_requests": func() *scene {
		return begun().run(event.RequestBegin, `{"request_id":"1","model":"m-2"}`).says("There").
			run(event.RequestEnd, `{"request_id":"1","status":"malformed","error_message":"Cut off.","attempt":1,"retry_in_ms":0}`).
			run(event.RequestBegin, `{"request_id":"2","attempt":2}`).calls("a").
			run(event.RequestEnd, `{"request_id":"2","status":"completed","attempt":2,"usage":{"input_tokens":10,"output_tokens":5}}`).
			run(event.ToolCompleted, `{"tool_call_id":"a","result":"x.go","result_checksum":"x"}`).
			run(event.RequestBegin, `{"request_id":"3"}`).
			run(event.RequestEnd, `{"request_id":"3","status":"auth","error_message":"No key.","attempt":1}`).
			run(event.AgentResult, usage).run(event.RunFailed, `{"error":{"code":"x","message":"No key.","retryable":false}}`)
	},
	"sub_agent": func() *scene {
		return begun().calls("task").
			run(event.TaskStarted, `{"agent_id":"sub_a","name":"helper","task_prompt":"Count.","tool_call_id":"task"}`).
			run(event.MessageDelta, `{"message_id":"msg_2","content_index":0,"delta":"Two.","agent_id":"sub_a"}`).
			run(event.TaskStarted, `{"agent_id":"sub_b","name":"deeper","parent_agent_id":"sub_a"}`).
			run(event.SubAgentStatus, `{"agent_id":"sub_a","status":"ok","usage":{"input_tokens":1,"output_tokens":2}}`).
			run(event.ToolCompleted, `{"tool_call_id":"task","result":"Two.","result_checksum":"x"}`).run(event.RunCompleted, `{}`)
	},
	"sub_agent_that_begins_again": func() *scene {
		return begun().run(event.TaskStarted, `{"agent_id":"sub_a","task_prompt":"Count."}`).
			run(event.TaskStarted, `{"agent_id":"sub_a","task_prompt":"Count."}`). // told again while it is at it
			run(event.SubAgentStatus, `{"agent_id":"sub_a","status":"ok"}`).
			run(event.TaskStarted, `{"agent_id":"sub_a","task_prompt":"Count again."}`).
			run(event.MessageDelta, `{"message_id":"msg_2","content_index":0,"delta":"Two.","agent_id":"sub_a"}`).run(event.RunCompleted, `{}`)
	},
	"child_run_and_one_beside": func() *scene {
		child, beside := omnifold.Run{ID: otherRun, Parent: theRun}, omnifold.Run{ID: "run_0000000000000003"}
		return begun().says("There are ").of(child, event.RunStarted, `{"started_at":"2026-07-18T07:30:01Z"}`).
			of(beside, event.MessageDelta, `{"message_id":"msg_3","content_index":0,"delta":"Me too."}`).
			of(child, event.MessageDelta, `{"message_id":"msg_2","content_index":0,"delta":"Two."}`).
			of(child, event.RunCompleted, `{}`).of(beside, event.RunCompleted, `{}`).run(event.MessageDone, done).run(event.RunCompleted, completed)
	},
	"runs_that_never_began": func() *scene {
		child, beside := omnifold.Run{ID: otherRun, Parent: theRun}, omnifold.Run{ID: "run_0000000000000003"}
		alone := omnifold.Run{ID: "run_0000000000000004"}
		return begun().says("There are ").of(beside, event.RunCancelling, `{"reason":"No more."}`).
			of(beside, event.RunCancelled, `{"external_stop_confirmed":true}`).
			of(child, event.RunFailed, `{"error":{"code":"x","message":"No.","retryable":false}}`).
			run(event.MessageDone, done).run(event.RunCompleted, completed).
			of(alone, event.RunCancelling, `{"reason":"Not now."}`).of(alone, event.RunCancelled, `{"external_stop_confirmed":true}`)
	},
	"stopped_before_it_begins": func() *scene {
		next := omnifold.Run{ID: otherRun}
		return begun().says("There are ").of(next, event.RunCancelling, `{"reason":"Not now."}`).
			run(event.MessageDone, done).run(event.RunCompleted, completed).
			of(next, event.RunStarted, `{"started_at":"2026-07-18T07:30:01Z","workDir":"/work/app"}`).
			of(next, event.MessageDelta, `{"message_id":"msg_3","content_index":0,"delta":"Me"}`).
			of(next, event.RunCancelled, `{"external_stop_confirmed":true}`)
	},
	"asked_by_a_process_that_is_gone": func() *scene {
		gone := func(call string) string {
			return `{"tool_call_id":"` + call + `","error":{"code":"run_ended","message":"The run has ended.","retryable":false}}`
		}
		asks := func(request, call string) string {
			return `{"request_id":"` + request + `","kind":"permission","tool_name":"bash","tool_call_id":"` + call + `","digest":"x","asks":"person"}`
		}
		next := omnifold.Run{ID: otherRun, Told: "The request to use bash was allowed. Go on."}
		s := begun()
		for _, call := range []string{"a", "b", "c", "d", "e"} {
			s.calls(call)
		}
		s.puts("b", "x.go").run(event.PromptRequested, asks("req_1", "a")).run(event.PromptRequested, asks("req_2", "b")).
			run(event.PromptRequested, asks("req_3", "c")).run(event.PromptRequested, asks("req_4", "a")).run(event.PromptRequested, asks("req_5", "e"))
		for _, call := range []string{"a", "b", "c", "d", "e"} {
			s.run(event.ToolFailed, gone(call))
		}
		return s.run(event.RunProcessEnded, `{"reason_code":"process_lost"}`).
			run(event.PromptAnswered, `{"request_id":"req_1","decision":"allow","by":"person"}`).
			run(event.PromptAnswered, `{"request_id":"req_4","decision":"allow","by":"person"}`).
			run(event.PromptAnswered, `{"request_id":"req_2","decision":"deny","by":"person","reason":"Not here."}`).
			run(event.PromptExpired, `{"request_id":"req_3","reason":"timeout"}`).
			run(event.RunFailed, `{"error":{"code":"timeout","message":"It goes on in run_2.","retryable":false},"continued_by_run_id":"run_2"}`).
			of(next, event.RunStarted, `{"started_at":"2026-07-18T07:30:01Z","workDir":"/work/app"}`).
			of(next, event.MessageDelta, `{"message_id":"msg_2","content_index":0,"delta":"Done."}`).of(next, event.RunCompleted, `{}`)
	},
	"files_of_people": func() *scene {
		file := func(image bool, name, url string) omnifold.File {
			return omnifold.File{Image: image, Name: name, URL: url}
		}
		sends := func(s *scene, text string, files ...omnifold.File) *scene {
			return s.add(omnifold.Fact{Message: &omnifold.Message{Text: text, Files: files}})
		}
		s := sends(new(scene), "", file(true, "", "data:image/png;base64,aGk="))
		s.run(event.RunStarted, `{"started_at":"2026-07-18T07:30:01Z","workDir":"/work/app"}`).says("There are ")
		sends(s, "Look.\n", file(false, "plan.pdf", "https://example.com/1"), file(true, "", "https://example.com/a.png"),
			file(false, "x.bin", "data:application/x-y;v=1;base64,aGk="), file(false, "x.txt", "data:,a%20b"))
		sends(s, "", file(false, "torn.bin", "data:application/x-y;base64,a"), file(false, "", "https://example.com/2"))
		return sends(s, "").run(event.RunCompleted, `{}`)
	},
	"steered": func() *scene {
		said := func(steer, text string) string {
			return `{"steer_id":"steer_` + steer + `","text":"` + text + `","user_id":"user_1"}`
		}
		taken := func(steer string) string { return `{"steer_id":"steer_` + steer + `"}` }
		return begun().run(event.RunSteered, said("1", "Only <b>Go</b>.")).says("There are ").run(event.SteerTaken, taken("1")).
			run(event.RunSteered, said("2", "Count too.")).run(event.RunSteered, said("3", "Stop there.")).
			run(event.SteerWithdrawn, `{"steer_id":"steer_2","user_id":"user_1"}`).run(event.MessageDone, done).
			run(event.SteerTaken, taken("1")).run(event.SteerTaken, taken("2")).run(event.SteerTaken, taken("9")).
			run(event.RunCompleted, completed)
	},
	"imported": func() *scene {
		line := func(line string) string { return `{"line":` + strconv.Quote(line) + `}` }
		return new(scene).run(event.RunStarted, `{"started_at":"2026-07-18T07:30:01Z"}`).
			run(event.RunImported, line(`{"type":"session_meta", "payload":{"session_id":"s","new":1.0,"provider":"","model_id":"",`+
				`"model_context_window":"unknown","system_prompt":"","agent_state":"","workspace":""}, "timestamp":"2026-01-01T00:00:00Z"}`)).
			run(event.RunImported, line(`{"timestamp":"2026-01-01T00:00:00Z","type":"model_msg","payload":{"type":"text","role":"user","text":"List the files."}}`)).
			person("List the files.").
			run(event.RunImported, line(`{"timestamp":"2026-01-01T00:00:00Z","type":"note","payload":{"type":"?","n":1e400},"origin":["s2"]}`)).
			run(event.RunImported, line(`nothing`)).
			run(event.RunCompleted, `{}`).person("Said where nobody can.")
	},
	"compaction": func() *scene {
		return begun().says("There are ").run(event.CompactBoundary, `{"bytes":4096}`).run(event.MessageDone, done).
			run(event.RunCompleted, completed)
	},
	"another_text_than_was_streamed": func() *scene {
		return begun().says("There is one.").run(event.MessageDone, done).run(event.RunCompleted, completed)
	},
	"two_runs": func() *scene {
		next := omnifold.Run{ID: otherRun}
		return begun().calls("a").run(event.AgentResult, usage).run(event.RunCompleted, `{}`).
			of(next, event.ToolStarted, `{"tool_call_id":"a","tool_name":"bash","arguments":{}}`).
			of(next, event.ToolCompleted, `{"tool_call_id":"a","result":null,"result_checksum":"x"}`).
			of(next, event.AgentResult, usage).of(next, event.RunCompleted, `{}`)
	},
}

func TestScenarios(t *testing.T) {
	for name, written := range scenarios {
		t.Run(name, func(t *testing.T) {
			facts := written().facts
			stream := fold(facts)
			if err := omni.CheckStream(stream); err != nil {
				t.Error(err)
			}
			golden(t, name, joined(stream))
		})
	}
}

// golden compares with a file of testdata, byte for byte.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".jsonl")
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
	}
}

// TestALongTextIsSeveral has a text that is longer than a fragment may be, of characters that must not be cut.
func TestALongTextIsSeveral(t *testing.T) {
	long := strings.Repeat("中", 1<<19)
	s := begun().says(long).run(event.RunCompleted, `{}`)
	stream := fold(s.facts)
	if err := omni.CheckStream(stream); err != nil {
		t.Fatal(err)
	}
	var said string
	texts := 0
	for _, m := range stream {
		body, err := m.Body()
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := body.(omni.TextPayload); ok && p.Role == omni.Assistant {
			said += p.Text
			texts++
			if len(p.Text) > 1<<20 {
				t.Errorf("a text of %d bytes", len(p.Text))
			}
		}
	}
	if said != long || texts != 2 {
		t.Errorf("%d bytes in %d texts, want %d in 2", len(said), texts, len(long))
	}
}

// TestPeopleAreNotHeldForEver has more said before any agent begins than is held.
func TestPeopleAreNotHeldForEver(t *testing.T) {
	s := new(scene)
	for range 64 {
		s.person("Hello.")
	}
	if stream := fold(s.facts); stream != nil {
		t.Errorf("told before an agent began: %s", joined(stream))
	}
	stream := fold(s.person("Hello?").facts)
	if len(stream) != 66 || stream[0].Type() != omni.SessionMeta {
		t.Errorf("%d messages, want a session_meta and 65 texts", len(stream))
	}
	if err := omni.CheckStream(stream); err != nil {
		t.Error(err)
	}
	large := new(scene).person(strings.Repeat("a", 1<<20+1))
	if stream := fold(large.facts); len(stream) != 2 {
		t.Errorf("a large text became %d messages, want 2", len(stream))
	}
}

// TestWhatIsInABlob has a text and a result that are kept beside the log.
func TestWhatIsInABlob(t *testing.T) {
	s := begun().calls("a")
	s.add(omnifold.Fact{
		Run: omnifold.Run{ID: theRun}, Event: event.ToolCompleted, Blobs: map[string]string{"x": "large"},
		Payload: json.RawMessage(`{"tool_call_id":"a","result_blob":{"sha256":"x","size":5},"result_checksum":"x"}`),
	})
	s.add(omnifold.Fact{
		Run: omnifold.Run{ID: theRun}, Event: event.MessageDone, Blobs: map[string]string{"x": "There are"},
		Payload: json.RawMessage(`{"message_id":"msg_1","content_blob":{"sha256":"x","size":14},"content_checksum":"x"}`),
	})
	text := string(joined(fold(s.facts)))
	for _, want := range []string{`"output":"large"`, `"type":"text","role":"assistant","text":"There are"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
