package client

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The rules of S3 for clients, one test each. What they come to on a whole connection is played in TestScenarios.

func TestRuleASeqIDAtOrBelowTheLastIsDropped(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	at := &place{}
	f := follow(t, c, at)
	go func() {
		hub := <-h.sockets
		hub.hello("fresh", "c0")
		hub.message("msg_1", "c1")
		hub.seq = 0
		hub.message("msg_of_1", "of 1")
		hub.message("msg_of_2", "of 2")
		hub.message("msg_3", "c3")
		hub.message("msg_4", "")
	}()
	f.up()
	f.frame("message.new msg_1")
	f.frame("message.new msg_3")
	f.frame("message.new msg_4")
	if at.at() != "c3" {
		t.Errorf("kept %q: a dropped frame has no cursor that counts", at.at())
	}
}

func TestRuleAGapInSeqIDIsALossAndNothingBehindItCounts(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	f := follow(t, c, &place{})
	asked := make(chan string, 1)
	go func() {
		hub := <-h.sockets
		hub.hello("fresh", "c0")
		hub.message("msg_1", "c1")
		hub.seq++
		hub.message("msg_3", "c3")
		hub = <-h.sockets
		asked <- hub.cursor
		hub.hello("replayed", "c1")
		hub.message("msg_2", "c2")
	}()
	f.up()
	f.frame("message.new msg_1")
	if err := f.down(); !strings.Contains(err.Error(), "lost a frame") {
		t.Errorf("error %v", err)
	}
	f.up()
	f.frame("message.new msg_2")
	if got := <-asked; got != "c1" {
		t.Errorf("asked from %q, want from before the gap", got)
	}
}

func TestRuleSeqIDBeginsAgainOnEachConnectionAndIsNoKey(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	feed := c.Feed(&place{cursor: "c0"}, FeedOptions{Begin: BeginMissed})
	go func() {
		for _, id := range []string{"msg_1", "msg_2"} { // both as number 2
			hub := <-h.sockets
			hub.hello("replayed", "")
			hub.message(id, "c "+id)
			hub.socket.CloseNow()
		}
	}()
	var told []string
	for u, err := range feed.Follow(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if u.New {
			told = append(told, Key(*u.Frame))
		}
		if len(told) == 2 {
			break
		}
	}
	if want := []string{"message.new msg_1", "message.new msg_2"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

func TestRuleTheCursorMovesBeforeTheEventIsHandedOn(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	at := &place{cursor: "c0"}
	feed := c.Feed(at, FeedOptions{Begin: BeginMissed})
	asked := make(chan string, 1)
	go func() {
		hub := <-h.sockets
		hub.hello("replayed", "")
		hub.message("msg_1", "c1")
		hub = <-h.sockets
		asked <- hub.cursor
		hub.hello("replayed", "")
		hub.message("msg_2", "c2")
	}()
	until := func(key string) {
		t.Helper()
		for u, err := range feed.Follow(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if u.Frame != nil && Key(*u.Frame) == key {
				return
			}
		}
	}
	until("message.new msg_1") // and left while it was in hand
	if at.at() != "c0" {
		t.Errorf("kept %q while the event was in hand", at.at())
	}
	until("message.new msg_2")
	if got := <-asked; got != "c1" {
		t.Errorf("connected again from %q: the event in hand would have come again", got)
	}
	if at.at() != "c1" {
		t.Errorf("kept %q, want that of the event that was dealt with", at.at())
	}
}

// A process that dies while an event is in hand is one that does not come back for more.
func TestRuleTheKeptCursorNeverRunsAheadOfWhatWasApplied(t *testing.T) {
	h := newFakeHub(t)
	at := &place{}
	go func() {
		hub := <-h.sockets
		hub.hello("fresh", "c0")
		hub.message("msg_1", "c1")
		hub.message("msg_2", "c2")
		hub = <-h.sockets
		hub.hello("replayed", "")
		hub.message("msg_2", "c2")
	}()
	c, _ := h.client(time.Hour)
	f := follow(t, c, at)
	f.up()
	f.frame("message.new msg_1")
	f.frame("message.new msg_2") // dies here
	if at.at() != "c1" {
		t.Fatalf("kept %q, want c1", at.at())
	}
	again := follow(t, c, at)
	again.up()
	again.frame("message.new msg_2")
}

func TestRuleAnApplicationMayKeepTheCursorWithItsData(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	asked := make(chan string, 2)
	go func() {
		for range 2 {
			hub := <-h.sockets
			asked <- hub.cursor
			hub.hello("replayed", "c5")
			hub.message("msg_6", "")
			hub.message("msg_7", "c7")
		}
	}()
	row := struct{ cursor, message string }{cursor: "c5"} // what one transaction writes
	for range 2 {
		for u, err := range c.Feed(KeptByCaller(row.cursor), FeedOptions{Begin: BeginMissed}).Follow(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if u.Cursor != "" && u.Frame != nil {
				row.cursor, row.message = u.Cursor, Key(*u.Frame)
				break
			}
		}
	}
	if first, second := <-asked, <-asked; first != "c5" || second != "c7" || row.message != "message.new msg_7" {
		t.Errorf("asked from %q and %q, kept %+v", first, second, row)
	}
}

// What is told before a snapshot is whole must not be a place to come back to.
func TestRuleASnapshotIsWholeBeforeItsCursorIsKept(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	go func() { (<-h.sockets).hello("fresh", "c0") }()
	at := &place{}
	for u, err := range c.Feed(at, FeedOptions{}).Follow(t.Context()) {
		switch {
		case err != nil:
			t.Fatal(err)
		case at.at() != "":
			t.Fatalf("kept %q before the snapshot was told", at.at())
		case u.Ready && u.Cursor == "c0":
			return
		case u.Cursor != "":
			t.Fatalf("update %+v is no place to come back to", u)
		}
	}
}

func TestRuleSystemGapAndErrorMeanASnapshotAndAreNeverApplied(t *testing.T) {
	for _, typ := range []HubWebSocketFrameType{"system.gap", "error"} {
		h := newFakeHub(t)
		c, _ := h.client(time.Hour)
		f := follow(t, c, &place{cursor: "c0"})
		go func() {
			hub := <-h.sockets
			hub.hello("replayed", "c0")
			hub.send(typ, `{"id":"msg_1"}`, "")
		}()
		if e := f.up(); e.Snapshot {
			t.Errorf("a replayed connection wants a snapshot")
		}
		e := f.event()
		if !e.Snapshot || e.Frame.Type != typ {
			t.Errorf("%s: event %+v, want one that wants a snapshot", typ, e)
		}
		if r := NewReducer(); Key(*e.Frame) != "" || r.Apply(*e.Frame) != Ignored || len(r.Records()) != 0 {
			t.Errorf("%s was applied", typ)
		}
	}
}

func TestRuleAKickedDeviceUsesItsLoginNoMore(t *testing.T) {
	h := newFakeHub(t)
	c, keeper := h.client(time.Hour)
	f := follow(t, c, &place{})
	go func() {
		hub := <-h.sockets
		hub.hello("replayed", "")
		hub.send(HubWebSocketFrameTypeDeviceKicked, `{"reason":"logged_in_elsewhere"}`, "")
	}()
	f.up()
	if e := f.event(); e.Frame.Type != HubWebSocketFrameTypeDeviceKicked {
		t.Errorf("event %+v", e)
	}
	if err := f.end(); !errors.Is(err, ErrKicked) || !strings.Contains(err.Error(), "logged_in_elsewhere") {
		t.Fatalf("ended with %v", err)
	}
	if _, err := Decode[Me](c.API().GetMe(t.Context())); !errors.Is(err, ErrKicked) || errors.Is(err, ErrUnreachable) {
		t.Errorf("REST after it: %v", err)
	}
	if err := follow(t, c, &place{}).end(); !errors.Is(err, ErrKicked) {
		t.Errorf("a new stream after it: %v", err)
	}
	if _, err := keeper.Load(); !errors.Is(err, ErrLoggedOut) {
		t.Errorf("kept after it: %v", err)
	}
	if h.renewed() != 0 {
		t.Error("the login was renewed, which ends it for who has it now")
	}
}

func TestRuleNoDebugMockOrModeMetadataComesIntoABubble(t *testing.T) {
	m := Message{ID: "msg_1", Content: json.RawMessage(`{"text":"hello","debug":{"text":"x"},"mock":true,"mode":"plan"}`)}
	shown, err := json.Marshal(BubbleOf(m))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(shown, &fields); err != nil {
		t.Fatal(err)
	}
	for name, value := range fields {
		if slices.Contains([]string{"debug", "mock", "mode"}, name) || value == "plan" {
			t.Errorf("a bubble has %s: %v", name, value)
		}
	}
	if fields["Text"] != "hello" {
		t.Errorf("text %v", fields["Text"])
	}
	for _, meta := range []string{"run.agent.thinking", "run.agent.route_decision", "run.agent.cli_invocation_plan", "run.output.batch", "something.else"} {
		if run, text := Words(streamFrame("run_1", 1, meta, `{"delta":"x","text":"x"}`)); run != "" || text != "" {
			t.Errorf("%s counts as words: %q", meta, text)
		}
	}
	if _, text := Words(streamFrame("run_1", 1, "run.agent.text_delta", `{"delta":"Hi","mode":"plan","debug":"x"}`)); text != "Hi" {
		t.Errorf("words %q", text)
	}
}

func TestRuleTheClientWritesNoFrames(t *testing.T) {
	h := newFakeHub(t)
	h.strict = true // the hub's end reports any frame
	c, _ := h.client(time.Hour)
	f := follow(t, c, &place{})
	go func() {
		hub := <-h.sockets
		hub.hello("fresh", "c0")
		hub.message("msg_1", "c1")
		hub.socket.CloseNow()
	}()
	f.up()
	f.frame("message.new msg_1")
	f.down()
}

func TestRuleSyncByRESTGoesByTheRunsOwnNumbers(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	asked := make(chan string, 1)
	h.events = func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Query().Get("after_seq")
		json.NewEncoder(w).Encode(RunEventList{})
	}
	go func() {
		hub := <-h.sockets
		hub.hello("replayed", "")
		for range 5 {
			hub.message("msg_1", "")
		}
		for _, seq := range []int64{1, 9} {
			hub.send(HubWebSocketFrameTypeAgentStream, string(streamFrame("run_1", seq, "run.agent.text_delta", "{}").Payload), "")
		}
	}()
	for u, err := range c.Feed(&place{cursor: "c0"}, FeedOptions{Begin: BeginMissed}).Follow(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if u.Frame != nil && Key(*u.Frame) == "agent.stream run_1/9" {
			break
		}
	}
	if got := <-asked; got != "1" {
		t.Errorf("asked for events after %s, want after the run's event 1", got)
	}
}

func TestWhoLeavesInTheMiddleOfASnapshotIsOwedIt(t *testing.T) {
	h := newFakeHub(t)
	h.messages = []Message{{ID: "msg_1", SessionID: "sess_1", SeqID: 1}, {ID: "msg_2", SessionID: "sess_1", SeqID: 2}}
	c, _ := h.client(time.Hour)
	at := &place{}
	feed := c.Feed(at, FeedOptions{Begin: BeginMissed})
	go func() {
		(<-h.sockets).hello("fresh", "c5")
		(<-h.sockets).hello("replayed", "c6") // this hub remembers the device, but not what it was told by REST
	}()
	told := map[string]bool{}
	for u, err := range feed.Follow(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if u.New && u.Frame.Type == HubWebSocketFrameTypeMessageNew {
			told[Key(*u.Frame)] = true
			break
		}
	}
	for u, err := range feed.Follow(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if at.at() != "" {
			t.Fatalf("kept %q before the snapshot was whole", at.at())
		}
		if u.New {
			told[Key(*u.Frame)] = true
		}
		if u.Ready {
			break
		}
	}
	if !told["message.new msg_1"] || !told["message.new msg_2"] {
		t.Errorf("told %v, want both messages", told)
	}
}

func TestWhoLeavesWhileAHoleInALogIsFilledIsToldTheRest(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	h.events = func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.ParseInt(r.URL.Query().Get("after_seq"), 10, 64)
		var list RunEventList
		for seq := after + 1; seq <= 4; seq++ {
			list.Items = append(list.Items, RunEvent{RunID: "run_1", EventSeq: seq, WireType: "run.agent.text_delta", Payload: json.RawMessage("{}")})
		}
		json.NewEncoder(w).Encode(list)
	}
	asked := make(chan string, 2)
	go func() {
		for range 2 {
			hub := <-h.sockets
			asked <- hub.cursor
			hub.hello("replayed", "c0")
			hub.send(HubWebSocketFrameTypeAgentStream, string(streamFrame("run_1", 4, "run.agent.text_delta", "{}").Payload), "c4")
		}
	}()
	feed := c.Feed(&place{cursor: "c0"}, FeedOptions{})
	var told []string
	for len(told) < 4 {
		for u, err := range feed.Follow(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if u.New && u.Frame.Type == HubWebSocketFrameTypeAgentStream {
				told = append(told, Key(*u.Frame))
				if len(told) == 2 || len(told) == 4 {
					break
				}
			}
		}
	}
	want := []string{"agent.stream run_1/1", "agent.stream run_1/2", "agent.stream run_1/3", "agent.stream run_1/4"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	if first, second := <-asked, <-asked; first != "c0" || second != "c0" {
		t.Errorf("asked from %q and %q, want from before the frame both times", first, second)
	}
}
