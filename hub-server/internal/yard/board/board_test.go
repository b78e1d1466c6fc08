package board

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/event"
)

var update = flag.Bool("update", false, "write the screens into testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ada   = "user_ada"
	grace = "user_grace"
	scout = "agent_scout"
	demo  = "sess_demo"
	plans = "sess_plans"
	ops   = "sess_ops"
	task  = "run_9f2c1b7ad0e44c55"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// desk is a board with everything that it wanted done.
type desk struct {
	t testing.TB
	*Board
	effects []Effect
	seq     int64
	idle    time.Duration // since the board was made
}

func newDesk(t testing.TB, style screen.Style) *desk {
	t.Helper()
	d := &desk{t: t}
	d.Board = New(Options{Me: ada, Style: style, Zone: time.UTC, Now: func() time.Time { return noon.Add(time.Hour + d.idle) }})
	return d
}

func (d *desk) did(effects []Effect) { d.effects = append(d.effects, effects...) }

// done returns the effects of a kind since the last call for any kind, and forgets all.
func done[T Effect](d *desk) (found []T) {
	for _, e := range d.effects {
		if e, ok := e.(T); ok {
			found = append(found, e)
		}
	}
	d.effects = nil
	return found
}

func (d *desk) keys(keys ...string) {
	for _, k := range keys {
		text := k
		if k == "space" {
			text = " "
		} else if len([]rune(k)) > 1 {
			text = ""
		}
		d.did(d.Key(k, text))
	}
}

func (d *desk) typed(text string) {
	for _, r := range text {
		d.did(d.Key(string(r), string(r)))
	}
}

func (d *desk) frame(t client.HubWebSocketFrameType, payload any) {
	raw, err := event.Encode(payload)
	if err != nil {
		d.t.Fatal(err)
	}
	d.did(d.Update(client.Update{Event: client.Event{Frame: &client.HubWebSocketFrame{Type: t, Payload: raw}}, New: true}))
}

func (d *desk) connect() {
	d.did(d.Update(client.Update{Event: client.Event{Link: client.LinkUp, Frame: &client.HubWebSocketFrame{Type: client.HubWebSocketFrameTypeAuthOk}, Snapshot: true}}))
	d.did(d.Update(client.Update{Ready: true}))
}

func text(s string) json.RawMessage {
	raw, _ := json.Marshal(map[string]string{"text": s})
	return raw
}

func said(session client.SessionID, seq int64, by client.MemberID, words string) client.Message {
	kind := client.SenderTypeUser
	if strings.HasPrefix(by, "agent_") {
		kind = client.SenderTypeAgent
	}
	id := fmt.Sprintf("msg_%s_%d", session, seq)
	return client.Message{
		ID: id, MessageID: id, SessionID: session, SeqID: seq, SenderType: kind, SenderID: by, ContentType: client.ContentTypeText, Content: text(words),
		CreatedAt: noon.Add(time.Duration(seq) * time.Minute),
	}
}

// event is the next event of the run.
func (d *desk) event(wire, payload string) {
	d.seq++
	d.frame(client.HubWebSocketFrameTypeAgentStream, client.AgentStreamPayload{
		TaskID: task, SessionID: demo, AgentInstanceID: scout, EventSeq: d.seq, EventType: wire, Payload: payload, CreatedAt: noon,
	})
}

func prompt(id, kind, what string, age time.Duration) client.Prompt {
	return client.Prompt{
		RequestID: id, TaskID: task, SessionID: demo, AgentID: scout, Kind: kind, State: client.PromptStatePending, Digest: "digest of " + id,
		AskedAt: noon.Add(-age), Payload: json.RawMessage(`{"request_id":"` + id + `","kind":"` + kind + `","asks":"person",` + what + `}`),
	}
}

func (d *desk) asked(p client.Prompt) {
	raw, _ := event.Encode(p)
	d.frame(client.HubWebSocketFrameTypeNotificationNew, client.NotificationPayload{
		ID: p.RequestID, Type: client.NotificationPayloadTypePrompt, Payload: raw, Read: p.State != client.PromptStatePending, CreatedAt: p.AskedAt,
	})
}

func member(id, name string) client.SessionMember {
	return client.SessionMember{MemberID: id, Name: name, MemberType: client.MemberTypeUser, Role: client.MemberRoleMember}
}

// sessions are three conversations: one that is looked at, one in Chinese, one that is muted.
func sessions() []client.Session {
	all := []client.SessionMember{member(ada, "ada"), member(scout, "scout"), member(grace, "grace")}
	return []client.Session{
		{ID: demo, Type: client.SessionTypeGroup, Name: "demo", Members: all, LastSeq: 3, LastReadSeq: 3, UpdatedAt: noon},
		{ID: plans, Type: client.SessionTypeGroup, Name: "周五的计划", Members: all, LastSeq: 5, LastReadSeq: 3, UpdatedAt: noon.Add(-time.Hour)},
		{ID: ops, Type: client.SessionTypePrivate, Members: []client.SessionMember{all[0], all[2]}, LastSeq: 9, LastReadSeq: 2, Muted: true, UpdatedAt: noon.Add(-2 * time.Hour)},
	}
}

// day is a board on which much goes on.
func day(t testing.TB, style screen.Style, width, height int) *desk {
	t.Helper()
	d := newDesk(t, style)
	d.did(d.Resize(width, height))
	d.connect()
	d.did(d.Listed(sessions()))
	d.did(d.enter(demo))
	hello := said(demo, 1, grace, "Can somebody look why the build is red? It was green this morning, before the merge of the parser.")
	hello.Reactions = []client.Reaction{{Reaction: "👍", Count: 2, UserIds: []client.UserID{ada, grace}}}
	chinese := said(demo, 2, grace, "也请看一下中文换行：这一行很长很长，需要在正确的位置断开，不能把一个字切成两半。")
	ask := said(demo, 3, ada, "@scout what changed here in the last 20 commits?")
	ask.ReplyToMessageID, ask.EditedAt = hello.ID, noon
	d.did(d.Page(demo, 0, client.MessageList{Items: []client.Message{hello, chinese, ask}, LastSeq: 3}, nil))
	d.frame(client.HubWebSocketFrameTypeAgentDispatch, client.AgentDispatchPayload{TaskID: task, AgentInstanceID: scout, SessionID: demo, DisplayName: "scout", TriggerMessageID: ask.ID})
	d.event("run.started", `{"started_at":"2026-11-30T12:00:00Z"}`)
	d.event("run.agent.tool_call", `{"tool_call_id":"t1","tool_name":"git_log","arguments":{"command":"git log -20 --stat"}}`)
	d.event("run.agent.tool_result", `{"tool_call_id":"t1","result":1,"result_checksum":"x"}`)
	d.event("run.agent.text_delta", `{"message_id":"m1","content_index":0,"delta":"Twenty commits, most of them in the parser. The build is red since"}`)
	d.event("run.agent.text_delta", `{"message_id":"m1","content_index":0,"delta":" 41ab2c: a test reads a file that is not there."}`)
	return d
}

func mustLookLike(t *testing.T, name string, s Screen) {
	t.Helper()
	lines := make([]string, len(s.Lines))
	for i, l := range s.Lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	got := strings.Join(lines, "\n") + "\n"
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s looks like\n%s\nwant\n%s", name, got, want)
	}
}

func TestScreens(t *testing.T) {
	for _, size := range [][2]int{{40, 20}, {80, 24}, {120, 40}} {
		at := fmt.Sprintf("%dx%d", size[0], size[1])
		d := day(t, screen.Style{}, size[0], size[1])
		mustLookLike(t, "list-"+at, d.View())
		d.keys("enter")
		d.typed("Thanks! Then let us fix it:")
		d.keys("alt+enter")
		d.typed("请把测试改好")
		mustLookLike(t, "composing-"+at, d.View())
		p := prompt("req_1", "permission", `"tool_name":"Bash","input":{"command":"git revert --no-edit 41ab2c && make check"},"description":"Undo the commit that broke the build, and see whether it is green."`, 0)
		d.event("run.agent.permission_requested", string(p.Payload))
		d.asked(p)
		d.keys("ctrl+o")
		mustLookLike(t, "question-"+at, d.View())
		d.keys("esc", "up", "up")
		mustLookLike(t, "chosen-"+at, d.View())
		d.keys("?")
		mustLookLike(t, "keys-"+at, d.View())
	}
}

// The picture in the README is one of these screens.
func TestThePictureOfTheReadmeIsTrue(t *testing.T) {
	picture, err := os.ReadFile("testdata/question-80x24.txt")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```text\n"+string(picture)+"```\n") {
		t.Errorf("README.md does not have the screen of testdata/question-80x24.txt: put it there as it is")
	}
}

// hostile is what somebody might say who wants to drive a terminal.
var hostile = []string{
	"\x1b[2J\x1b[H", "\x1b]0;title\a", "\x1b]52;c;ZXZpbA==\x07", "\u009b31m", "\x1bPq\x1b\\", "\r\n\x08\x08", "\u202egnp.exe", "\x00", "\u2028", "a\tb", "\x1b[?1049l",
	"你\x1b[31m好", "\u200d\u200d", "e\u0301\u0301\u0301", "👩\u200d👩\u200d👧", "\xff\xfe", strings.Repeat("W", 500), "",
}

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// mustBeScreen checks what holds for every screen: as many lines and cells as the terminal has, and nothing that a terminal would obey.
func mustBeScreen(t rapidT, d *desk) {
	s := d.View()
	if len(s.Lines) != d.height {
		t.Fatalf("%d lines on a screen of %d:\n%s", len(s.Lines), d.height, s)
	}
	for i, l := range s.Lines {
		l = colours.ReplaceAllString(l, "")
		if w := cells.Width(l); w != d.width {
			t.Fatalf("line %d takes %d cells of %d: %q", i, w, d.width, l)
		}
		for _, r := range l {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("line %d drives the terminal with %U: %q", i, r, l)
			}
		}
	}
	if s.Cursor && (s.X < 0 || s.X >= d.width || s.Y < 0 || s.Y >= d.height) {
		t.Fatalf("the cursor is at %d, %d of %d by %d", s.X, s.Y, d.width, d.height)
	}
}

type rapidT interface {
	Fatalf(format string, args ...any)
}

func TestNothingThatAnybodySaysDrivesTheTerminal(t *testing.T) {
	for _, style := range []screen.Style{{}, screen.Coloured()} {
		for _, evil := range hostile {
			d := newDesk(t, style)
			d.connect()
			all := sessions()
			all[0].Name, all[0].Members[1].Name = evil+"demo", evil+"scout"
			d.did(d.Listed(all))
			d.did(d.enter(demo))
			m := said(demo, 1, grace, "before"+evil+"after\n"+evil)
			m.Attachments = []client.Attachment{{Kind: client.AttachmentKindFile, Filename: evil, URL: evil}}
			m.Reactions = []client.Reaction{{Reaction: evil + "!", Count: 1, UserIds: []client.UserID{grace}}}
			reply := said(demo, 2, scout, evil)
			reply.ReplyToMessageID, reply.ContentType = m.ID, client.ContentType(evil)
			d.did(d.Page(demo, 0, client.MessageList{Items: []client.Message{m, reply}, LastSeq: 2}, nil))
			quoted, _ := json.Marshal(evil)
			e := string(quoted)
			d.event("run.queued", `{"reason":`+e+`}`)
			mustBeScreen(t, d)
			d.event("run.agent.tool_call", `{"tool_call_id":"t","tool_name":`+e+`,"arguments":{"command":`+e+`}}`)
			d.event("run.agent.text_delta", `{"message_id":"m","content_index":0,"delta":`+e+`}`)
			d.asked(prompt("req_1", "permission", `"tool_name":`+e+`,"input":{"a":`+e+`},"description":`+e, 0))
			mustBeScreen(t, d)
			d.keys("ctrl+o", "w")
			mustBeScreen(t, d)
			d.keys("esc", "d")
			d.Answered("req_1", nil)
			d.asked(prompt("req_2", "question", `"inner":{"question":`+e+`,"options":[{"label":`+e+`,"description":`+e+`}]}`, 0))
			d.keys("ctrl+o")
			mustBeScreen(t, d)
			d.frame(client.HubWebSocketFrameTypeAgentFailed, client.AgentFailedPayload{TaskID: task, SessionID: demo, Error: client.RunError{Code: "x", Message: evil}})
			d.Fail(evil, errors.New(evil))
			mustBeScreen(t, d)
			d.keys("tab")
			d.did(d.Paste(evil + evil))
			mustBeScreen(t, d)
			d.did(d.Resize(40, 20))
			mustBeScreen(t, d)
			d.keys("shift+tab", "shift+tab", "shift+tab")
			mustBeScreen(t, d)
		}
	}
}

// Whatever comes and is typed in whatever order, the screen is one.
func TestEveryScreenIsAScreen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := day(nobody{}, screen.Style{}, 80, 24)
		seq := int64(3)
		words := rapid.OneOf(rapid.SampledFrom(hostile), rapid.StringN(0, 80, 200), rapid.SampledFrom([]string{"今天天气很好，我们去公园吧", "one two three four five six seven"}))
		t.Repeat(map[string]func(*rapid.T){
			"resize": func(t *rapid.T) {
				d.did(d.Resize(rapid.IntRange(1, 140).Draw(t, "width"), rapid.IntRange(1, 50).Draw(t, "height")))
			},
			"key": func(t *rapid.T) {
				d.keys(rapid.SampledFrom([]string{
					"tab", "shift+tab", "enter", "esc", "up", "down", "pgup", "pgdown", "home", "end", "g", "G", "ctrl+n", "ctrl+p", "ctrl+o", "a", "d", "r", "e",
					"+", "p", "c", "y", "n", "t", "w", "1", "2", "?", "/", "u", "s", "alt+enter", "backspace", "ctrl+w", "left", "right", "ctrl+k", "你", "x", "space",
				}).Draw(t, "key"))
			},
			"paste": func(t *rapid.T) { d.did(d.Paste(words.Draw(t, "text"))) },
			"message": func(t *rapid.T) {
				seq++
				d.frame(client.HubWebSocketFrameTypeMessageNew, said(demo, seq, rapid.SampledFrom([]string{ada, grace, scout}).Draw(t, "by"), words.Draw(t, "text")))
			},
			"words": func(t *rapid.T) {
				delta, _ := json.Marshal(words.Draw(t, "text"))
				d.event("run.agent.text_delta", `{"message_id":"m1","content_index":0,"delta":`+string(delta)+`}`)
			},
			"asked": func(t *rapid.T) {
				kind := rapid.SampledFrom([][2]string{
					{"permission", `"tool_name":"Bash","input":{"command":"ls"}`},
					{"question", `"inner":{"question":"Which one of them?","multi":true,"options":[{"label":"甲"},{"label":"b","description":"the second"},{"label":"c"}]}`},
					{"step_decision", `"inner":{"scope":"step","step_id":"s1","reason":"it failed","allow_retry":true}`},
				}).Draw(t, "kind")
				d.asked(prompt(fmt.Sprintf("req_%d", rapid.IntRange(1, 5).Draw(t, "id")), kind[0], kind[1], 0))
			},
			"found": func(t *rapid.T) {
				d.Found(Search{Words: words.Draw(t, "words")}, []client.Message{said(demo, rapid.Int64Range(1, seq).Draw(t, "seq"), grace, words.Draw(t, "text")), said(ops, 1, ada, "x")}, nil)
			},
			"answered": func(t *rapid.T) { d.Answered(fmt.Sprintf("req_%d", rapid.IntRange(1, 5).Draw(t, "id")), nil) },
			"recall": func(t *rapid.T) {
				id := said(demo, rapid.Int64Range(1, seq).Draw(t, "seq"), ada, "").ID
				d.frame(client.HubWebSocketFrameTypeMessageRecall, client.MessageRecallPayload{MessageID: id, SessionID: demo})
			},
			"lost": func(*rapid.T) {
				d.did(d.Update(client.Update{Event: client.Event{Link: client.LinkDown, Err: client.ErrUnreachable}}))
			},
			"back": func(*rapid.T) { d.connect() },
			"ended": func(*rapid.T) {
				d.frame(client.HubWebSocketFrameTypeAgentDone, client.AgentDonePayload{TaskID: task, SessionID: demo, AgentInstanceID: scout})
			},
			"page": func(t *rapid.T) {
				for _, f := range done[Fetch](d) {
					if f.Session == demo {
						d.did(d.Page(demo, f.Before, history(f.Before, seq), nil))
					}
				}
			},
			"": func(t *rapid.T) { mustBeScreen(t, d) },
		})
	})
}

// nobody is a testing.TB of which nothing is asked.
type nobody struct{ testing.TB }

func (nobody) Helper() {}

// history is a page of ten messages before a number; 0 for the newest.
func history(before, last int64) client.MessageList {
	if before == 0 {
		before = last + 1
	}
	list := client.MessageList{LastSeq: last}
	for seq := max(before-10, 1); seq < before; seq++ {
		list.Items = append(list.Items, said(demo, seq, grace, fmt.Sprintf("message %d", seq)))
	}
	if len(list.Items) > 0 && list.Items[0].SeqID > 1 {
		list.Next = list.Items[0].SeqID
	}
	return list
}
