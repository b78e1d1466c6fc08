package screen

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

var update = flag.Bool("update", false, "write the golden files anew")

// phoneBook names what it was told and shortens the rest.
type phoneBook map[string]string

func (b phoneBook) Session(id client.SessionID) string { return b.name(id) }
func (b phoneBook) Member(id client.MemberID) string   { return b.name(id) }

func (b phoneBook) name(id string) string {
	if name, ok := b[id]; ok {
		return name
	}
	return id
}

// script makes frames as a hub would, 10 ms apart.
type script struct {
	frames []client.HubWebSocketFrame
	seq    map[string]int64
	clock  time.Time
}

func newScript() *script {
	return &script{seq: map[string]int64{}, clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (s *script) frame(typ client.HubWebSocketFrameType, payload any) {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	s.frames = append(s.frames, client.HubWebSocketFrame{Type: typ, Payload: raw})
}

func (s *script) event(run, typ, payload string) {
	s.seq[run]++
	s.clock = s.clock.Add(10 * time.Millisecond)
	s.frame(client.HubWebSocketFrameTypeAgentStream, client.AgentStreamPayload{
		TaskID: run, AgentInstanceID: "agent_" + run, SessionID: "sess_1", EventSeq: s.seq[run], EventType: typ, Payload: payload, CreatedAt: s.clock,
	})
}

func (s *script) say(run, message, text string) {
	delta, _ := json.Marshal(text)
	s.event(run, "run.agent.text_delta", fmt.Sprintf(`{"message_id":%q,"content_index":0,"delta":%s}`, message, delta))
}

func (s *script) message(sender client.SenderType, id, text, task string) {
	content, _ := json.Marshal(map[string]any{"text": text, "agent_task": map[string]string{"task_id": task}})
	s.frame(client.HubWebSocketFrameTypeMessageNew, client.Message{
		ID: "msg_1", SessionID: "sess_1", SenderType: sender, SenderID: id, ContentType: client.ContentTypeText, Content: content,
	})
}

func wholeRun(s *script) {
	s.frame(client.HubWebSocketFrameTypeSessionCreated, map[string]any{
		"session_id": "sess_1", "members": []map[string]string{{"member_id": "user_1"}, {"member_id": "agent_1"}},
	})
	s.message(client.SenderTypeUser, "user_1", "@scout what changed here?\nIn the last 20 commits.", "")
	s.frame(client.HubWebSocketFrameTypeAgentDispatch, client.AgentDispatchPayload{TaskID: "1", AgentInstanceID: "agent_1", SessionID: "sess_1"})
	s.event("1", "run.started", `{"started_at":"2026-01-02T03:04:05Z","workDir":"/work/repo"}`)
	s.event("1", "item.created", `{"message_id":"m1","role":"assistant"}`)
	s.event("1", "run.agent.thinking", `{"message_id":"m1","content_index":0,"delta":"The history "}`)
	s.event("1", "run.agent.thinking", `{"message_id":"m1","content_index":0,"delta":"first.\n"}`)
	s.event("1", "run.agent.tool_call", `{"tool_call_id":"t1","tool_name":"git_log","arguments":{"limit":20}}`)
	s.event("1", "run.agent.tool_result", `{"tool_call_id":"t1","result":"…","result_checksum":"x"}`)
	s.event("1", "run.agent.tool_call", `{"tool_call_id":"t2","tool_name":"read_file","arguments":{"path":"docs/a.md","limit":3}}`)
	s.event("1", "run.agent.tool_result", `{"tool_call_id":"t2","error":{"code":"not_found","message":"no such file","retryable":false}}`)
	s.say("1", "m1", "Twenty commits:\n")
	s.say("1", "m1", "mostly ")
	s.say("1", "m1", "tests.")
	s.event("1", "run.agent.text_block", `{"message_id":"m1","content":"Twenty commits:\nmostly tests.","content_checksum":"x"}`)
	s.event("1", "artifact.created", `{"type":"file","artifact_id":"art_1","filename":"report.md","content_type":"text/markdown","size":4212,"checksum":"x"}`)
	s.event("1", "run.agent.result", `{"exit_code":0}`)
	s.event("1", "run.finished", `{"message_id":"m1"}`)
	s.frame(client.HubWebSocketFrameTypeAgentDone, client.AgentDonePayload{TaskID: "1", AgentInstanceID: "agent_1", SessionID: "sess_1"})
	s.message(client.SenderTypeAgent, "agent_1", "Twenty commits:\nmostly tests.", "1")
}

func subAgents(s *script) {
	s.event("1", "run.started", `{}`)
	s.say("1", "m1", "I ask two others.")
	s.event("1", "run.agent.task_started", `{"agent_id":"sub_a","name":"searcher"}`)
	s.event("1", "item.created", `{"message_id":"m2","role":"assistant","agent_id":"sub_a"}`)
	s.event("1", "run.agent.thinking", `{"message_id":"m2","content_index":0,"delta":"hm","agent_id":"sub_a"}`)
	s.event("1", "run.agent.text_delta", `{"message_id":"m2","content_index":0,"delta":"Found it.","agent_id":"sub_a"}`)
	s.event("1", "run.agent.tool_call", `{"tool_call_id":"1","tool_name":"grep","arguments":{},"agent_id":"sub_a"}`)
	s.event("1", "run.agent.tool_call", `{"tool_call_id":"1","tool_name":"read","arguments":{},"agent_id":"sub_b"}`)
	s.event("1", "run.agent.tool_result", `{"tool_call_id":"1","result":1,"result_checksum":"x","agent_id":"sub_a"}`)
	s.event("1", "run.agent.tool_result", `{"tool_call_id":"1","error":{"code":"x","message":"no","retryable":false},"agent_id":"sub_b"}`)
	s.event("1", "run.agent.text_block", `{"message_id":"m2","content":"Found it.","content_checksum":"x","agent_id":"sub_a"}`)
	s.say("1", "m1", " They found it.")
	s.event("1", "run.agent.text_block", `{"message_id":"m1","content":"I ask two others. They found it.","content_checksum":"x"}`)
	s.event("1", "run.finished", `{"message_id":"m1"}`)
}

func twoRunsAtOnce(s *script) {
	s.event("1", "run.queued", `{"reason":"all 4 places are taken"}`)
	s.event("1", "run.started", `{}`)
	s.say("1", "m1", "I begin, ")
	s.event("2", "run.started", `{}`)
	s.say("2", "m2", "I too.")
	s.say("1", "m1", "and go on,")
	s.event("1", "run.agent.tool_call", `{"tool_call_id":"t1","tool_name":"shell","arguments":{"command":"sleep  1\necho"}}`)
	s.event("2", "run.agent.tool_call", `{"tool_call_id":"t2","tool_name":"list","arguments":{}}`)
	s.event("1", "run.agent.tool_result", `{"tool_call_id":"t1","result":1,"result_checksum":"x"}`)
	s.event("2", "run.agent.tool_result", `{"tool_call_id":"t2","result":1,"result_checksum":"x"}`)
	s.event("1", "run.output.batch", `{"stream":"stderr","lines":["warning: \u001b[31mred","second"]}`)
	s.event("1", "run.cancelling", `{"requested_by":"user_1","requested_at":"2026-01-02T03:04:05Z"}`)
	s.event("1", "run.cancelled", `{"external_stop_confirmed":true}`)
	s.frame(client.HubWebSocketFrameTypeAgentCancel, client.AgentCancelPayload{TaskID: "1", AgentInstanceID: "agent_1", SessionID: "sess_1"})
	s.event("2", "run.failed", `{"error":{"code":"agent_exit","message":"the agent ended with code 3","retryable":false}}`)
}

func odds(s *script) {
	s.event("1", "run.agent.text_block", `{"message_id":"m1","content":"Told in one piece.","content_checksum":"x"}`)
	s.event("1", "run.agent.tool_result", `{"tool_call_id":"never started","result":1,"result_checksum":"x"}`)
	s.event("1", "run.row_refused", `{"producer_seq":3,"code":"invalid"}`)
	s.event("1", "run.agent.context_usage", `{"tokens":3}`)
	s.event("1", "run.interrupted", `{"reason_code":"start_unknown"}`)
	s.frame(client.HubWebSocketFrameTypeAgentFailed, map[string]any{
		"task_id": "9", "agent_instance_id": "agent_9", "session_id": "sess_1", "error": map[string]string{"code": "timeout", "message": "took too long"},
	})
	s.frame(client.HubWebSocketFrameTypeAgentDone, client.AgentDonePayload{TaskID: "8", AgentInstanceID: "agent_9", SessionID: "sess_1"})
	s.message(client.SenderTypeAgent, "agent_9", "A final text whose pieces nobody saw.", "9")
	s.frame(client.HubWebSocketFrameTypeMessageNew, client.Message{SessionID: "sess_1", SenderType: "user", SenderID: "user_1", ContentType: "image", Content: []byte(`{}`)})
	s.frame(client.HubWebSocketFrameTypeSessionMemberJoined, map[string]string{"session_id": "sess_1", "member_id": "agent_2"})
	s.frame(client.HubWebSocketFrameTypeSessionMemberLeft, map[string]string{"session_id": "sess_1", "member_id": "agent_2"})
	s.frame(client.HubWebSocketFrameTypeMessageRecall, map[string]string{"session_id": "sess_1", "message_id": "msg_1"})
	s.frame(client.HubWebSocketFrameTypeSessionDissolved, map[string]string{"session_id": "sess_1"})
	s.frame(client.HubWebSocketFrameTypeTyping, map[string]string{"session_id": "sess_1"})
	s.frame("something.new", map[string]string{})
	for _, typ := range []client.HubWebSocketFrameType{"message.new", "agent.stream", "agent.dispatch", "agent.done", "session.created", "message.recall"} {
		s.frames = append(s.frames, client.HubWebSocketFrame{Type: typ, Payload: []byte(`[]`)})
	}
}

func questions(s *script) {
	s.event("1", "run.started", `{}`)
	s.say("1", "m1", "May I?")
	s.event("1", "run.agent.permission_requested", `{"request_id":"req_1","kind":"permission","tool_name":"Bash","input":{"command":"ls"},"description":"Lists\nfiles.","asks":"person"}`)
	s.event("1", "run.agent.permission_requested", `{"request_id":"req_2","kind":"permission","tool_name":"Write","input":{},"input_blob":{"sha256":"x","size":300000},"asks":"person"}`)
	s.event("1", "run.agent.permission_requested", `{"request_id":"req_3","kind":"permission","tool_name":"Read","input":{},"asks":"policy"}`)
	s.event("1", "run.agent.permission_decided", `{"request_id":"req_3","decision":"allow","by":"policy","policy":"allow-readonly"}`)
	s.event("1", "run.agent.permission_decided", `{"request_id":"req_1","decision":"allow","by":"person","user_id":"user_1","updated_input":{"command":"ls -l"}}`)
	s.event("1", "run.prompt.delivered", `{"request_id":"req_1","decision":"allow"}`)
	s.event("1", "run.process_ended", `{"reason":"turn_limit","code":"timeout","pending":["req_2"]}`)
	s.event("1", "run.agent.permission_decided", `{"request_id":"req_2","decision":"deny","by":"person","user_id":"user_1","reason":"too large"}`)
	s.event("1", "run.failed", `{"error":{"code":"timeout","message":"It goes on in run_2.","retryable":false},"continued_by_run_id":"run_2"}`)
	s.frame(client.HubWebSocketFrameTypeMessageNew, client.Message{
		SessionID: "sess_1", SenderType: "user", SenderID: "user_1", ContentType: "text", Content: []byte(`{"text":""}`),
		Attachments: []client.Attachment{{Kind: "image", URL: "data:image/png;base64,AAAA", Filename: "a.png"}, {Kind: "file", URL: "https://example.com/x"}},
	})
}

func inquiries(s *script) {
	s.event("1", "run.started", `{}`)
	s.event("1", "run.prompt.requested", `{"request_id":"req_1","kind":"question","inner":{"question":"Which?","options":[{"label":"a"}],"allow_custom":false},"asks":"person"}`)
	s.event("1", "run.prompt.answered", `{"request_id":"req_1","kind":"question","decision":"allow","by":"person","user_id":"user_1","response":{"selected_options":["a"]}}`)
	s.event("1", "run.agent.plan_proposed", `{"request_id":"req_2","kind":"plan_review","inner":{"plan_id":"p1","steps":[{"id":"s1","description":"read\nall"}]},"asks":"person"}`)
	s.event("1", "run.agent.plan_rejected", `{"request_id":"req_2","kind":"plan_review","decision":"deny","by":"person","user_id":"user_1","reason":"too dear"}`)
	s.event("1", "run.prompt.requested", `{"request_id":"req_3","kind":"step_decision","inner":{"scope":"plan","reason":"no budget"},"asks":"person"}`)
	s.event("1", "run.prompt.answered", `{"request_id":"req_3","kind":"step_decision","decision":"continue","by":"person","user_id":"user_1"}`)
	s.event("1", "run.prompt.requested", `{"request_id":"req_4","kind":"poem","inner":{"about":"\u001b[31mspring"},"asks":"person"}`)
	s.event("1", "run.prompt.expired", `{"request_id":"req_4","kind":"poem","reason":"ttl"}`)
	s.event("1", "run.process_ended", `{"reason":"process_lost","code":"process_lost","pending":[]}`)
}

func TestFramesAreToldAsAStory(t *testing.T) {
	names := phoneBook{"sess_1": "demo", "user_1": "ada", "agent_1": "scout", "agent_2": "chat"}
	for name, play := range map[string]func(*script){"run": wholeRun, "two-runs": twoRunsAtOnce, "odds": odds, "questions": questions, "inquiries": inquiries, "sub-agents": subAgents} {
		for look, style := range map[string]Style{"plain": {}, "colour": Coloured()} {
			t.Run(name+" "+look, func(t *testing.T) {
				s := newScript()
				play(s)
				var out bytes.Buffer
				n := NewNarrator(&out, style, names)
				for _, f := range s.frames {
					if err := n.Frame(f); err != nil {
						t.Fatal(err)
					}
				}
				if err := n.Notice("the end"); err != nil {
					t.Fatal(err)
				}
				golden(t, name+"."+look+".txt", out.Bytes())
			})
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", path, got)
	}
}

func TestNothingAnAgentWritesReachesTheTerminalAsASequence(t *testing.T) {
	const nasty = "a\x1b[2Jb\x1b]0;title\x07c\u009b31md\u202ee\r\nf\x00\xff"
	s := newScript()
	s.message(client.SenderTypeUser, "user_1", nasty, "")
	s.event("1", "run.started", `{"workDir":`+quoted(nasty)+`}`)
	s.say("1", "m1", nasty)
	s.event("1", "run.agent.tool_call", `{"tool_call_id":"t","tool_name":`+quoted(nasty)+`,"arguments":{"path":`+quoted(nasty)+`}}`)
	s.event("1", "run.output.batch", `{"lines":[`+quoted(nasty)+`]}`)
	s.event("1", "run.agent.permission_requested", `{"request_id":`+quoted(nasty)+`,"tool_name":`+quoted(nasty)+`,"input":{"x":`+quoted(nasty)+
		`},"description":`+quoted(nasty)+`,"asks":"person"}`)
	s.event("1", "run.agent.permission_decided", `{"request_id":`+quoted(nasty)+`,"by":`+quoted(nasty)+`,"reason":`+quoted(nasty)+`}`)
	s.event("1", "artifact.created", `{"filename":`+quoted(nasty)+`,"artifact_id":`+quoted(nasty)+`}`)
	s.event("1", "run.failed", `{"error":{"code":`+quoted(nasty)+`,"message":`+quoted(nasty)+`}}`)
	var out bytes.Buffer
	n := NewNarrator(&out, Style{}, phoneBook{"sess_1": nasty, "user_1": nasty, "agent_1": nasty})
	for _, f := range s.frames {
		if err := n.Frame(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Notice(nasty); err != nil {
		t.Fatal(err)
	}
	if at := strings.IndexFunc(out.String(), func(r rune) bool { return r != '\n' && r < ' ' || r == 0x9b || r == 0x202e || r == 0x7f }); at >= 0 {
		t.Fatalf("%q", out.String()[max(0, at-20):])
	}
}

func quoted(s string) string { raw, _ := json.Marshal(s); return string(raw) }

func FuzzClean(f *testing.F) {
	f.Add("plain\n\ttext")
	f.Add("\x1b[31m\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		if got := Clean(text); strings.ContainsFunc(got, func(r rune) bool { return (r < ' ' && r != '\n' && r != '\t') || (r >= 0x7f && r < 0xa0) }) {
			t.Fatalf("%q became %q", text, got)
		}
		if got := Line(text, 10); len([]rune(got)) > 10 || strings.ContainsAny(got, "\n\t") {
			t.Fatalf("line %q", got)
		}
	})
}
