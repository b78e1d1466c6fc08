package board

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

func (d *desk) shows(want string) bool { return strings.Contains(d.View().String(), want) }

func (d *desk) mustShow(want ...string) {
	d.t.Helper()
	for _, w := range want {
		if !d.shows(w) {
			d.t.Errorf("%q is not seen:\n%s", w, d.View())
		}
	}
}

func (d *desk) mustNotShow(unwanted string) {
	d.t.Helper()
	if d.shows(unwanted) {
		d.t.Errorf("%q is seen:\n%s", unwanted, d.View())
	}
}

func TestWhatAnAgentSaysIsSeenAsItGrowsAndOnceWhenItIsAMessage(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.mustShow("scout ▶ works", "⚙ git_log git log -20 --stat", "a test reads a file")
	d.event("run.agent.thinking", `{"message_id":"m2","content_index":0,"delta":"hm"}`)
	d.mustShow("scout ▶ thinks")
	d.event("run.agent.text_delta", `{"message_id":"m2","content_index":0,"delta":" It is fixed."}`)
	d.mustShow("It is fixed.")
	d.event("run.finished", `{"message_id":"m2"}`)
	final := said(demo, 4, scout, "It is fixed for good.")
	final.Content = []byte(`{"text":"It is fixed for good.","agent_task":{"task_id":"` + task + `"}}`)
	d.frame(client.HubWebSocketFrameTypeMessageNew, final)
	d.frame(client.HubWebSocketFrameTypeAgentDone, client.AgentDonePayload{TaskID: task, SessionID: demo, AgentInstanceID: scout})
	d.mustShow("It is fixed for good.")
	d.mustNotShow("a test reads a file")
	d.mustNotShow("has ended")
}

func TestHowARunEndedIsSeenUnlessItEndedWell(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.frame(client.HubWebSocketFrameTypeAgentFailed, client.AgentFailedPayload{TaskID: task, SessionID: demo, Error: client.RunError{Code: "agent_exit", Message: "the agent ended with code 3"}})
	d.mustShow("scout ✗ has failed: the agent ended with code 3")
}

func TestARunIsStoppedAfterAQuestion(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.keys("tab", "c")
	d.mustShow("Stop scout? y/n")
	d.keys("x")
	d.keys("c", "y")
	if got := done[Cancel](d); len(got) != 1 || got[0].Run != task {
		t.Errorf("cancelled %+v", got)
	}
}

func TestAMessageOfSeveralLinesIsSentAndStaysWhereItFails(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.keys("enter")
	d.typed("one")
	d.keys("alt+enter")
	d.did(d.Paste("two\r\nthree"))
	d.keys("enter")
	got := done[Send](d)
	if len(got) != 1 || got[0] != (Send{Session: demo, Text: "one\ntwo\nthree"}) {
		t.Fatalf("sent %+v", got)
	}
	d.mustNotShow("three")
	got[0].ID = "its id"
	d.Sent(got[0], errors.New("the hub cannot be reached"))
	d.mustShow("✗ not sent: the hub cannot be reached", "three")
	d.keys("enter", "enter")
	if again := done[Send](d); len(again) != 1 || again[0] != got[0] {
		t.Errorf("sent %+v: it may have arrived, so it goes by its id; and an empty text is not sent", again)
	}
	d.Sent(got[0], nil)
	d.did(d.Paste("one\ntwo\nthree"))
	d.keys("enter")
	if other := done[Send](d); len(other) != 1 || other[0].ID != "" {
		t.Errorf("sent %+v: the same text once more is another message", other)
	}
}

func TestMessagesAreRepliedToEditedRecalledPinnedAndReactedTo(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	mine, theirs := said(demo, 3, ada, "").ID, said(demo, 2, grace, "").ID
	d.keys("tab", "up", "up") // the run, then mine
	d.keys("e", "ctrl+u")
	d.typed("@scout what is new?")
	d.mustShow("editing: ada: @scout what changed")
	d.keys("enter")
	if got := done[Edit](d); len(got) != 1 || got[0] != (Edit{mine, "@scout what is new?"}) {
		t.Errorf("edited %+v", got)
	}
	d.keys("esc", "up", "up", "d")
	d.mustShow("Take this message back? y/n")
	d.keys("y")
	if got := done[Recall](d); len(got) != 1 || got[0].Message != mine {
		t.Errorf("recalled %+v", got)
	}
	d.keys("up", "e")
	d.mustShow("only what you have said yourself")
	d.keys("r")
	d.typed("Yes.")
	d.mustShow("reply to grace: 也请看一下中文换行")
	d.keys("enter")
	if got := done[Send](d); len(got) != 1 || got[0] != (Send{Session: demo, Text: "Yes.", ReplyTo: theirs}) {
		t.Errorf("sent %+v", got)
	}
	d.keys("esc", "up", "up", "up", "+")
	d.typed("👍")
	d.keys("enter", "p")
	if got := d.effects; len(got) < 2 || got[len(got)-2] != (React{Message: theirs, Reaction: "👍"}) || got[len(got)-1] != (Pin{Message: theirs}) {
		t.Errorf("effects %+v", got)
	}
	by := client.MessageReactionPayload{MessageID: theirs, SessionID: demo, UserID: ada, Reaction: "👍", Count: 1}
	d.frame(client.HubWebSocketFrameTypeMessageReactionAdded, by)
	d.frame(client.HubWebSocketFrameTypeMessagePin, client.MessagePinPayload{MessageID: theirs, SessionID: demo, PinnedAt: noon, PinnedByUserID: ada})
	d.mustShow("👍 1", "pinned")
	d.effects = nil
	d.keys("+")
	d.typed("👍")
	d.keys("enter", "p")
	if got := d.effects; len(got) != 2 || got[0] != (React{theirs, "👍", true}) || got[1] != (Pin{theirs, true}) {
		t.Errorf("effects %+v", got)
	}
	d.frame(client.HubWebSocketFrameTypeMessageReactionRemoved, by)
	d.frame(client.HubWebSocketFrameTypeMessageUnpin, client.MessageUnpinPayload{MessageID: theirs, SessionID: demo})
	d.mustNotShow("👍 1")
	d.mustNotShow("pinned")
	d.frame(client.HubWebSocketFrameTypeMessageRecall, client.MessageRecallPayload{MessageID: mine, SessionID: demo})
	d.mustShow("(taken back)")
	d.mustNotShow("what changed here")
}

func TestOnlyWhatSomebodyHasInFrontOfThemIsRead(t *testing.T) {
	d := day(t, screen.Style{}, 40, 20) // the list alone
	d.effects = nil
	d.frame(client.HubWebSocketFrameTypeMessageNew, said(demo, 4, grace, "hello?"))
	if got := done[MarkRead](d); len(got) != 0 {
		t.Fatalf("read behind the list: %+v", got)
	}
	d.mustShow("demo")
	d.keys("enter")
	got := done[MarkRead](d)
	if len(got) != 1 || got[0] != (MarkRead{demo, 4}) {
		t.Fatalf("read %+v", got)
	}
	d.did(d.Look(false))
	d.did(d.Marked(got[0], nil))
	d.frame(client.HubWebSocketFrameTypeMessageNew, said(demo, 5, grace, "still there?"))
	if got := done[MarkRead](d); len(got) != 0 {
		t.Errorf("read though nobody looks: %+v", got)
	}
	d.did(d.Look(true))
	if got := done[MarkRead](d); len(got) != 1 || got[0].Seq != 5 {
		t.Errorf("read %+v", got)
	}
	d.did(d.Marked(MarkRead{demo, 5}, errors.New("no")))
	if d.rooms[demo].unread() != 1 {
		t.Errorf("%d unread after a mark that failed", d.rooms[demo].unread())
	}
}

func TestUnreadMarksCountWhatOthersSaidAndFollowOtherDevices(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.frame(client.HubWebSocketFrameTypeMessageNew, said(plans, 6, grace, "?"))
	if n := d.rooms[plans].unread(); n != 3 {
		t.Errorf("%d unread", n)
	}
	d.frame(client.HubWebSocketFrameTypeMessageRead, map[string]any{"session_id": plans, "user_id": grace, "last_read_seq": 6})
	if n := d.rooms[plans].unread(); n != 3 {
		t.Errorf("%d unread after somebody else has read", n)
	}
	d.frame(client.HubWebSocketFrameTypeMessageRead, map[string]any{"session_id": plans, "user_id": ada, "last_read_seq": 5})
	if n := d.rooms[plans].unread(); n != 1 {
		t.Errorf("%d unread after another device of mine has read", n)
	}
	d.keys("u")
	if d.open != plans {
		t.Errorf("%s is open, want the one with something unread", d.open)
	}
}

func TestTheCountOfAllDevicesGoesBeforeOnesOwn(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.frame(client.HubWebSocketFrameTypeMessageNew, said(plans, 6, grace, "?"))
	d.Unread(plans, 1) // the others were taken back
	if n := d.rooms[plans].unread(); n != 1 {
		t.Errorf("%d unread", n)
	}
	d.frame(client.HubWebSocketFrameTypeMessageRead, map[string]any{"session_id": plans, "user_id": ada, "last_read_seq": 6})
	if n := d.rooms[plans].unread(); n != 0 {
		t.Errorf("%d unread of what was read", n)
	}
}

func TestConversationsAreFoundAndChangedBetween(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.keys("/")
	d.typed("周五")
	d.mustShow("Find: 周五")
	d.keys("enter", "enter")
	if d.open != plans {
		t.Errorf("%s is open", d.open)
	}
	if got := done[Fetch](d); len(got) == 0 || got[len(got)-1] != (Fetch{Session: plans}) {
		t.Errorf("fetched %+v", got)
	}
	d.keys("tab", "esc")
	if d.filter != "" || len(d.listed()) != 3 {
		t.Errorf("filter %q", d.filter)
	}
	d.keys("ctrl+n")
	if d.open != ops {
		t.Errorf("%s is open", d.open)
	}
	d.keys("ctrl+p", "ctrl+p")
	if d.open != demo {
		t.Errorf("%s is open", d.open)
	}
}

func TestOlderMessagesAreReadByPageAndMemoryIsBounded(t *testing.T) {
	const last = 3000
	d := newDesk(t, screen.Style{})
	d.connect()
	all := sessions()
	all[0].LastSeq, all[0].LastReadSeq = last, last
	d.did(d.Listed(all))
	d.did(d.Page(demo, 0, history(0, last), nil))
	d.effects = nil
	d.keys("tab")
	for pages := 0; !d.rooms[demo].whole; pages++ {
		if pages > 2*last {
			t.Fatal("the beginning is never reached")
		}
		d.keys("pgup")
		for _, f := range done[Fetch](d) {
			before := d.View().Lines[1]
			d.did(d.Page(demo, f.Before, history(f.Before, last), nil))
			if d.View().Lines[1] != before {
				t.Fatalf("a page of older messages moved what was on the screen: %q, then %q", before, d.View().Lines[1])
			}
		}
		if n := len(d.rooms[demo].messages); n > maxKept {
			t.Fatalf("%d messages in memory", n)
		}
	}
	d.keys("g")
	d.mustShow("message 1 ")
	d.frame(client.HubWebSocketFrameTypeMessageNew, said(demo, last+1, grace, "the newest"))
	d.mustNotShow("the newest")
	d.keys("G")
	got := done[Fetch](d)
	if len(got) != 1 || got[0] != (Fetch{Session: demo}) {
		t.Fatalf("fetched %+v", got)
	}
	newest := history(0, last+1)
	newest.Items[len(newest.Items)-1] = said(demo, last+1, grace, "the newest")
	d.did(d.Page(demo, 0, newest, nil))
	d.mustShow("the newest")
	if n := len(d.rooms[demo].messages); n > 20 {
		t.Errorf("%d messages in memory", n)
	}
}

func TestAMessageIsFoundAndShownWhereItWasSaid(t *testing.T) {
	const last = 3000
	d := newDesk(t, screen.Style{})
	d.connect()
	all := sessions()
	all[0].LastSeq, all[0].LastReadSeq = last, last
	d.did(d.Listed(all))
	d.did(d.Page(demo, 0, history(0, last), nil))
	d.keys("s")
	d.typed("message 400")
	d.effects = nil
	d.keys("enter")
	got := done[Search](d)
	if len(got) != 1 || got[0] != (Search{Words: "message 400"}) {
		t.Fatalf("searched %+v", got)
	}
	d.Found(got[0], []client.Message{said(demo, 400, grace, "message 400"), said(plans, 2, grace, "the message of 400 people")}, nil)
	d.mustShow("2 say “message 400”", "demo grace 2026-11-30", "the message of 400 people")
	d.keys("down", "up", "enter")
	fetched := done[Fetch](d)
	if len(fetched) != 1 || fetched[0] != (Fetch{demo, 400 + around}) {
		t.Fatalf("fetched %+v", fetched)
	}
	d.frame(client.HubWebSocketFrameTypeMessageNew, said(demo, last+1, grace, "the newest"))
	page := client.MessageList{LastSeq: last, Next: 375}
	for seq := int64(375); seq < 400+around; seq++ {
		page.Items = append(page.Items, said(demo, seq, grace, fmt.Sprintf("message %d", seq)))
	}
	d.did(d.Page(demo, fetched[0].Before, page, nil))
	d.mustShow("▌  message 400", "message 403", "↓ 1 unread below")
	d.mustNotShow("the newest")
	d.effects = nil
	d.keys("G")
	if got := done[Fetch](d); len(got) != 1 || got[0] != (Fetch{Session: demo}) {
		t.Errorf("fetched %+v: the end is read anew", got)
	}
	d.keys("/")
	d.mustShow("Search here:")
	d.keys("esc")
	d.Found(Search{Words: "nothing"}, nil, nil)
	d.mustShow("nothing says nothing")
	d.Found(Search{}, nil, errors.New("busy"))
	d.mustShow("✗ not searched: busy")
}

func TestMessagesOfFewConversationsAreKept(t *testing.T) {
	d := newDesk(t, screen.Style{})
	d.connect()
	var all []client.Session
	for i := range 3 * maxRecent {
		all = append(all, client.Session{ID: "sess_" + strings.Repeat("x", i+1), Name: "s", LastSeq: 1})
	}
	d.did(d.Listed(all))
	loaded := 0
	for _, s := range all {
		d.did(d.enter(s.ID))
		m := said(s.ID, 1, grace, "hello")
		d.did(d.Page(s.ID, 0, client.MessageList{Items: []client.Message{m}, LastSeq: 1}, nil))
	}
	for _, r := range d.rooms {
		loaded += len(r.messages)
	}
	if loaded != maxRecent {
		t.Errorf("messages of %d conversations are kept", loaded)
	}
}

func TestTheConnectionIsSeen(t *testing.T) {
	d := newDesk(t, screen.Style{})
	d.mustShow("◌ connecting")
	d.did(d.Update(client.Update{Event: client.Event{Link: client.LinkDown, Err: client.ErrUnreachable}}))
	d.mustShow("○ offline since 13:00", "the hub cannot be reached")
	d.did(d.Update(client.Update{Event: client.Event{Link: client.LinkUp, Frame: &client.HubWebSocketFrame{}}}))
	d.mustShow("◐ catching up")
	d.did(d.Update(client.Update{Event: client.Event{Err: errors.New("503")}}))
	d.mustShow("the hub does not give what was missed: 503")
	d.did(d.Update(client.Update{Ready: true}))
	d.mustShow("● live")
	if got := done[List](d); len(got) != 1 {
		t.Errorf("listed %d times", len(got))
	}
}

// What a reset hides is read again where somebody looks.
func TestAfterAResetMessagesAreReadAgain(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.effects = nil
	d.connect()
	if got := done[Fetch](d); len(got) != 1 || got[0] != (Fetch{Session: demo}) {
		t.Errorf("fetched %+v", got)
	}
	d.did(d.Listed(sessions()[1:]))
	d.mustNotShow("demo")
	if d.open == demo {
		t.Error("a conversation that is gone is open")
	}
}

func TestConversationsComeChangeAndGo(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.frame(client.HubWebSocketFrameTypeSessionCreated, client.SessionCreatedPayload{SessionID: "sess_new", Type: client.SessionTypeGroup, Name: "fresh", CreatedAt: noon.Add(2 * 3600e9), Members: []client.SessionMember{member(ada, "ada")}})
	d.mustShow("fresh")
	d.frame(client.HubWebSocketFrameTypeSessionInfoUpdated, map[string]any{"session_id": "sess_new", "name": "fresher"})
	d.mustShow("fresher")
	if n := len(d.rooms["sess_new"].info.Members); n != 1 {
		t.Errorf("%d members after a change of the name", n)
	}
	d.frame(client.HubWebSocketFrameTypeSessionMemberJoined, client.SessionMemberJoinedPayload{SessionID: demo, MemberID: "user_l", MemberType: client.MemberTypeUser, Name: "linus"})
	d.mustShow("linus")
	d.frame(client.HubWebSocketFrameTypeSessionMemberLeft, client.SessionMemberLeftPayload{SessionID: demo, MemberID: "user_l"})
	d.mustNotShow("linus")
	d.frame(client.HubWebSocketFrameTypeSessionDissolved, client.SessionDissolvedPayload{SessionID: demo})
	d.mustShow("closed")
	d.frame(client.HubWebSocketFrameTypeSessionMemberLeft, client.SessionMemberLeftPayload{SessionID: "sess_new", MemberID: ada})
	d.mustNotShow("fresher")
}

func TestARunThatWasUnderWayBeforeIsSeenWithTheEndOfItsLog(t *testing.T) {
	d := newDesk(t, screen.Style{})
	d.connect()
	d.did(d.Listed(sessions()))
	m := said(demo, 3, ada, "@scout go")
	log := RunLog{
		Task:   client.AgentTask{ID: task, AgentID: scout, SessionID: demo, State: client.RunStateRunning, TriggerMessageID: m.ID},
		Events: []client.RunEvent{{EventSeq: 7, EventType: "message.delta", WireType: "run.agent.text_delta", Payload: []byte(`{"message_id":"m","delta":"the end of it"}`)}},
	}
	d.did(d.Page(demo, 0, client.MessageList{Items: []client.Message{m}, LastSeq: 3}, []RunLog{log}))
	d.mustShow("scout ▶ works", "…the end of it")
	d.seq = 6
	d.event("run.agent.text_delta", `{"message_id":"m","delta":"the end of it"}`)
	d.event("run.agent.text_delta", `{"message_id":"m","delta":", and more"}`)
	d.mustShow("…the end of it, and more")
}

func TestNothingThatIsTypedIsLostByOneKey(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.keys("enter")
	d.typed("almost done")
	d.effects = nil
	d.keys("ctrl+c", "n")
	d.mustShow("almost done")
	if got := done[Quit](d); len(got) != 0 {
		t.Error("quits, and what was typed is lost")
	}
	d.keys("ctrl+c", "ctrl+c")
	if got := done[Quit](d); len(got) != 1 {
		t.Error("does not quit though it was said twice")
	}
}

func TestQuittingIsOneKey(t *testing.T) {
	for _, key := range []string{"ctrl+c", "ctrl+q", "q"} {
		d := day(t, screen.Style{}, 80, 24)
		d.effects = nil
		d.keys(key)
		if got := done[Quit](d); len(got) != 1 {
			t.Errorf("%s does not quit", key)
		}
	}
}

func TestATerminalThatDoesNotTellWhoLooksGoesByTheKeys(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.effects = nil
	d.idle = lately
	d.frame(client.HubWebSocketFrameTypeMessageNew, said(demo, 4, grace, "hello?"))
	if got := done[MarkRead](d); len(got) != 0 {
		t.Errorf("read though nobody was there for long: %+v", got)
	}
	d.keys("up")
	if got := done[MarkRead](d); len(got) != 1 || got[0] != (MarkRead{demo, 4}) {
		t.Errorf("read %+v", got)
	}
}

// What a sub-agent says is for its agent; its tools are seen, each for itself.
func TestWordsOfASubAgentAreNotTheAgents(t *testing.T) {
	d := day(t, screen.Style{}, 120, 40)
	d.event("run.agent.text_delta", `{"message_id":"m2","content_index":0,"delta":"INSIDE","agent_id":"sub_a"}`)
	d.event("run.agent.text_block", `{"message_id":"m3","content":"WITHIN","content_checksum":"x","agent_id":"sub_a"}`)
	d.event("run.agent.thinking", `{"message_id":"m2","content_index":0,"delta":"hm","agent_id":"sub_a"}`)
	d.event("run.agent.tool_call", `{"tool_call_id":"t2","tool_name":"grep_inside","arguments":{},"agent_id":"sub_a"}`)
	d.mustNotShow("INSIDE")
	d.mustNotShow("WITHIN")
	d.mustShow("grep_inside", "41ab2c")
}
