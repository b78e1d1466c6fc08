package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// withBob is a place in which bob is a member of the conversation, and a message of his.
func withBob(t *testing.T) (p *place, demo, message string) {
	t.Helper()
	p = newPlace(t)
	demo = "/client/sessions/" + p.session
	p.ada.post(demo+"/members", object{"member_id": p.bob.login.User.ID}).is(201, "")
	return p, demo, p.bob.post(demo+"/messages", text("a secret")).receipt().Message
}

// again logs somebody in anew: after a while their access token is too old.
func (p *place) again(name string) *client {
	p.t.Helper()
	return p.signedIn(p.anonymous().post("/client/auth/login", credentials(name, password)).is(200, ""))
}

func TestARecalledMessageSaysNothingAnyMore(t *testing.T) {
	p, demo, message := withBob(t)
	p.clock.advance(5 * time.Minute)
	left := p.bob.post("/client/messages/"+message+"/recall", nil).is(200, "")
	if again := p.bob.post("/client/messages/"+message+"/recall", nil).is(200, ""); string(again.body) != string(left.body) {
		t.Errorf("again %s, first %s", again.body, left.body)
	}
	for _, path := range []string{"/messages", "/messages/sync?after_seq=1"} {
		page := p.ada.get(demo+path).is(200, "")
		if strings.Contains(string(page.body), "secret") || !strings.Contains(string(page.body), `"content":{},`) || !strings.Contains(string(page.body), `"recalled":true`) {
			t.Errorf("%s: %s", path, page.body)
		}
	}
	p.bob.do(http.MethodPut, "/client/messages/"+message, object{"content": object{"text": "again"}}).is(409, "conflict")
	p.ada.post(demo+"/runs", object{"agent_id": p.agent, "trigger_message_id": message}).is(409, "conflict")
}

func TestSEC10WhoMayTakeAMessageBack(t *testing.T) {
	p, demo, message := withBob(t)
	p.bob.post("/client/messages/"+p.message+"/recall", nil).is(403, "forbidden") // ada's
	p.clock.advance(5*time.Minute + time.Second)
	p.bob.post("/client/messages/"+message+"/recall", nil).is(400, "recall_timeout")
	p.ada.post("/client/messages/"+message+"/recall", nil).is(200, "") // the group is hers
	p.clock.advance(1000 * time.Hour)
	fresh := p.again("ada")
	fresh.post("/client/messages/"+p.message+"/recall", nil).is(200, "")
	fresh.get(demo+"/messages").is(200, "")
}

func TestARecallKeepsFromAnAgentWhatItHasNotHeard(t *testing.T) {
	p := newPlace(t) // its edge is away: the run waits
	p.ada.post("/client/messages/"+p.message+"/recall", nil).is(200, "")
	if got := p.ada.get("/web/agent-tasks/"+p.task).is(200, "").field("state"); got != "cancelled" {
		t.Errorf("the run is %s", got)
	}
	commands, err := p.lanes.PendingCommands(t.Context(), id.Edge(p.edge))
	if err != nil || len(commands) != 0 {
		t.Errorf("%d commands, %v", len(commands), err)
	}
}

func TestAnEditedMessageSaysSomethingElse(t *testing.T) {
	p, demo, message := withBob(t)
	path := "/client/messages/" + message
	say := func(what string) object { return object{"content": object{"text": what}} }
	p.bob.do(http.MethodPut, path, say("@scout a word")).is(200, "")
	p.bob.do(http.MethodPut, path, say("@scout a word")).is(200, "")
	page := p.ada.get(demo+"/messages?limit=1").is(200, "")
	for _, part := range []string{`"text":"@scout a word"`, `"revision":1`, `"edited_at":"`, `"seq_id":2`} {
		if !strings.Contains(string(page.body), part) || strings.Contains(string(page.body), "secret") {
			t.Errorf("no %s in %s", part, page.body)
		}
	}
	if tasks := p.ada.get("/web/agent-tasks?session_id="+p.session).is(200, ""); strings.Count(string(tasks.body), `"trigger_message_id"`) != 1 {
		t.Errorf("an edit started a run: %s", tasks.body)
	}
	p.ada.do(http.MethodPut, path, say("hers")).is(403, "forbidden")
	p.bob.do(http.MethodPut, path, say(" ")).is(400, "empty_prompt")
	p.bob.do(http.MethodPut, path, object{"content": object{"code": "x"}}).is(400, "invalid_request")
	p.bob.do(http.MethodPut, path, object{"content": object{"text": "x"}, "attachments": []object{{"kind": "file", "url": "file:///x"}}}).is(400, "invalid_request")
	p.clock.advance(15*time.Minute + time.Second)
	p.again("bob").do(http.MethodPut, path, say("too late")).is(400, "edit_timeout")
}

// changes is a page of messages that have changed.
type changes struct {
	Items []struct {
		Content struct {
			Text string `json:"text"`
		} `json:"content"`
		Seq int `json:"seq_id"`
	} `json:"items"`
	Next       int `json:"next"`
	LastChange int `json:"last_change"`
}

func TestADeviceThatCouldNotResumeAsksWhatBecameOfItsMessages(t *testing.T) {
	p, demo, message := withBob(t)
	for _, said := range []string{"one", "two", "three"} {
		p.bob.post(demo+"/messages", text(said)).receipt()
	}
	p.bob.do(http.MethodPut, "/client/messages/"+message, object{"content": object{"text": "no secret"}}).is(200, "")
	p.ada.post("/client/messages/"+p.message+"/pin", nil).is(200, "")
	p.bob.do(http.MethodPut, "/client/messages/"+message, object{"content": object{"text": "nothing"}}).is(200, "")

	var all, first, second, none changes
	p.ada.get(demo+"/messages/changes").is(200, "").into(&all)
	p.ada.get(demo+"/messages/changes?limit=1").is(200, "").into(&first)
	p.ada.get(demo+"/messages/changes?limit=1&after_change=2").is(200, "").into(&second)
	p.ada.get(demo+"/messages/changes?after_change=9").is(200, "").into(&none)
	if len(all.Items) != 2 || all.Items[0].Seq != 1 || all.Items[1].Content.Text != "nothing" || all.Next != 0 || all.LastChange != 3 {
		t.Errorf("all %+v", all)
	}
	if len(first.Items) != 1 || first.Next != 2 || first.LastChange != 2 || len(second.Items) != 1 || second.Next != 0 || second.LastChange != 3 {
		t.Errorf("pages %+v, %+v", first, second)
	}
	if len(none.Items) != 0 || none.Next != 0 || none.LastChange != 3 {
		t.Errorf("beyond the end %+v", none)
	}
	p.ada.get(demo+"/messages/changes?limit=501").is(400, "invalid_request")
	p.ada.get(demo+"/messages/changes?after_change=-1").is(400, "invalid_request")
	var s, page struct {
		LastChange int `json:"last_change"`
		ReadMarks  []struct {
			User string `json:"user_id"`
			Seq  int    `json:"last_read_seq"`
		} `json:"read_marks"`
	}
	p.bob.post(demo+"/read", object{"last_read_seq": 3}).is(200, "")
	p.ada.get(demo).is(200, "").into(&s)
	p.ada.get(demo+"/messages").is(200, "").into(&page)
	if s.LastChange != 3 || page.LastChange != 3 || len(s.ReadMarks) != 1 || s.ReadMarks[0].User != p.bob.login.User.ID || s.ReadMarks[0].Seq != 3 {
		t.Errorf("conversation %+v, page %+v", s, page)
	}
}
