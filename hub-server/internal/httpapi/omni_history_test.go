package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

func TestHistoryIsReadInBothDirections(t *testing.T) {
	p := newPlace(t)
	edge := p.reporter()
	edge.tale(id.NewRequest())
	for i := range 40 {
		edge.say(event.ToolStarted, event.ToolStartedPayload{ToolCallID: fmt.Sprint("call_", i), ToolName: "bash", Arguments: []byte(`{}`)})
	}
	edge.delta("open ")
	edge.delta("text")
	whole := p.ada.whole(p.omniHistory(), 1000)
	for limit := 1; limit < 60; limit += 13 {
		sameLines(t, "forward", p.ada.whole(p.omniHistory(), limit), whole)
		h := p.ada.history(p.omniHistory(), url.Values{"limit": {strconv.Itoa(limit)}})
		if h.Live == nil || h.Live.Cursor != h.Cursor || len(h.Live.Fragments) != 2 {
			t.Fatalf("live is %+v", h.Live)
		}
		if text := string(h.Live.Fragments[1].Bytes()); !strings.Contains(text, `"event_type":"delta","text":"open text"`) {
			t.Errorf("open is %s", text)
		}
		back := h.lines()
		for h.More {
			h = p.ada.history(p.omniHistory(), url.Values{"limit": {strconv.Itoa(limit)}, "before": {h.Messages[0].Position}})
			if len(h.Messages) > limit || h.Cursor != "" || h.Live != nil {
				t.Fatalf("%d messages of %d, cursor %q", len(h.Messages), limit, h.Cursor)
			}
			back = append(h.lines(), back...)
		}
		sameLines(t, "backward", back, whole)
	}
	newest := p.ada.history(p.omniHistory(), nil)
	upTo := p.ada.history(p.omniHistory(), url.Values{"before": {newest.Cursor}})
	sameLines(t, "before the cursor of the newest page", upTo.lines(), newest.lines())
}

// A client that reads the newest page and follows from there has the rest of what is open.
func TestAClientGoesOnFromThePageWithWhatIsOpen(t *testing.T) {
	p := newPlace(t)
	edge := p.reporter()
	edge.tale(id.NewRequest())
	edge.delta("open ")
	h := p.ada.history(p.omniHistory(), nil)
	s := p.ada.follow(p.omniStream() + "?after=" + h.Live.Cursor)
	edge.delta("text")
	edge.say(event.RunCompleted, event.RunCompletedPayload{})
	var a omni.Aggregator
	for _, m := range h.Live.Fragments {
		if _, err := a.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range s.until(has(`"state":"idle"`)) {
		if m, err := omni.Decode([]byte(b.data)); b.data != "" && b.event == "" && err == nil {
			whole, err := a.Add(m)
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(whole, func(m omni.Message) bool { return strings.Contains(string(m.Bytes()), `"text":"open text"`) }) {
				return
			}
		}
	}
	t.Error("the text was not whole")
}

// Ruling R18: the paths of a machine are for its owner.
func TestPathsAreForTheOwnerOfTheMachine(t *testing.T) {
	p := newPlace(t)
	p.ada.post("/client/sessions/"+p.session+"/members", object{"member_id": p.bob.login.User.ID}).is(201, "")
	p.reporter().tale(id.NewRequest())
	for who, c := range map[string]*client{"the owner": p.ada, "a member": p.bob} {
		var streamed careful
		for _, b := range c.follow(p.omniStream() + "?after=0").until(has("task_state")) {
			streamed.take(b)
		}
		for how, lines := range map[string][]string{"history": c.whole(p.omniHistory(), 100), "stream": streamed.have} {
			all := strings.Join(lines, "\n")
			if !strings.Contains(all, `"type":"session_meta"`) || strings.Contains(all, workDir) != (who == "the owner") {
				t.Errorf("%s has by %s\n%s", who, how, all)
			}
		}
	}
}

func TestSEC13WhoIsRemovedGetsNothingMoreOfTheConversation(t *testing.T) {
	p := newPlace(t)
	bob := p.bob.login.User.ID
	p.ada.post("/client/sessions/"+p.session+"/members", object{"member_id": bob}).is(201, "")
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	s := p.bob.follow(p.omniStream())
	s.until(has("task_state"))
	p.ada.delete("/client/sessions/"+p.session+"/members/"+bob).is(204, "")
	edge.delta("among us")
	if b, more := s.block(); more {
		t.Errorf("after the removal came %+v", b)
	}
	p.bob.get(p.omniStream()).is(404, "not_found")
	p.bob.get(p.omniHistory()).is(404, "not_found")
}

func TestALogoutAndAStopEndStreamsOfConversations(t *testing.T) {
	p := newPlace(t)
	other := p.signedIn(p.anonymous().post("/client/auth/login", credentials("ada", password)).is(200, ""))
	stays, goes := p.ada.follow(p.omniStream()), other.follow(p.omniStream())
	stays.until(has("task_state"))
	goes.until(has("task_state"))
	other.do(http.MethodPost, "/client/auth/logout", nil).is(204, "")
	if b, more := goes.block(); more {
		t.Errorf("after the logout came %+v", b)
	}
	p.reporter().delta("one")
	stays.until(has("one"))
	var open []*follower
	for range maxFollowed - 1 {
		open = append(open, p.ada.follow(p.omniStream()))
	}
	p.ada.get(p.omniStream()).is(429, "rate_limited")
	p.deps.Followers.Shut()
	for _, s := range append(open, stays) {
		for more := true; more; _, more = s.block() {
		}
	}
	p.ada.get(p.omniStream()).is(503, "busy")
}

// A reader that takes nothing is given up, and others are not held up.
func TestAStuckReaderOfAConversationIsClosed(t *testing.T) {
	p := newPlace(t, func(d *httpapi.Deps) { d.Pace.Write = 50 * time.Millisecond })
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	for range 100 {
		edge.delta(strings.Repeat("x", 100<<10))
	}
	stuck := p.ada.follow(p.omniStream() + "?after=0")
	for !strings.Contains(string(p.anonymous().get("/metrics").body), `http_event_streams_ended_total{why="client takes nothing"} 1`) {
	}
	for more := true; more; _, more = stuck.block() {
	}
	if err := stuck.lines.Err(); err == nil {
		t.Error("the stream of a stuck reader ended as if it were whole")
	}
}
