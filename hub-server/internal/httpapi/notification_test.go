package httpapi_test

import (
	"encoding/json"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

type told struct {
	Items []struct {
		ID      string          `json:"id"`
		Type    string          `json:"type"`
		Read    bool            `json:"read"`
		Payload json.RawMessage `json:"payload"`
	} `json:"items"`
	Next   string `json:"next"`
	Unread int    `json:"unread"`
}

func (c *client) told(query string) (page told) {
	c.hub.t.Helper()
	c.get("/client/notifications"+query).is(200, "").into(&page)
	return page
}

func TestWhoIsBroughtIntoAGroupIsTold(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob, eve := ada.invite("bob"), ada.invite("eve")
	group := ada.post("/client/sessions/group", object{"name": "demo", "member_ids": []string{bob.login.User.ID}}).is(201, "").field("id")
	ada.post("/client/sessions/"+group+"/members", object{"member_id": eve.login.User.ID}).is(201, "")
	ada.post("/client/sessions/private", object{"member_id": bob.login.User.ID}).is(201, "")
	for _, c := range []*client{bob, eve} {
		page := c.told("?unread=true")
		if len(page.Items) != 1 || page.Items[0].Type != "group_invite" || page.Unread != 1 {
			t.Errorf("%s is told %+v", c.login.User.Name, page)
		}
	}
	if page := ada.told(""); len(page.Items) != 0 {
		t.Errorf("who invites is told %+v", page)
	}
	ada.post("/client/sessions/"+group+"/messages", text("welcome")).is(201, "")
	bob.post("/client/sessions/"+group+"/read", object{"last_read_seq": 1}).is(200, "")
	if page := bob.told(""); len(page.Items) != 1 || !page.Items[0].Read || page.Unread != 0 {
		t.Errorf("who has read the conversation is told %+v", page)
	}
}

func TestSEC11NotificationsAreOnesOwn(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob := ada.invite("bob")
	ada.post("/client/sessions/group", object{"name": "demo", "member_ids": []string{bob.login.User.ID}}).is(201, "")
	theirs := bob.told("").Items[0].ID
	want := withoutTrace(t, ada.post("/client/notifications/"+theirs+"/read", nil).is(404, "not_found"))
	for _, other := range []string{string(id.NewNotification()), string(id.NewRequest()), "x"} {
		if got := withoutTrace(t, ada.post("/client/notifications/"+other+"/read", nil).is(404, "not_found")); got != want {
			t.Errorf("tells theirs from nothing:\n%s\n%s", want, got)
		}
	}
	ada.post("/client/notifications/read", object{}).is(204, "")
	if page := bob.told(""); page.Unread != 1 {
		t.Errorf("another has read it: %+v", page)
	}
	bob.post("/client/notifications/"+theirs+"/read", nil).is(204, "")
	bob.post("/client/notifications/"+theirs+"/read", nil).is(204, "")
	if page := bob.told("?unread=true"); len(page.Items) != 0 || page.Unread != 0 {
		t.Errorf("still unread: %+v", page)
	}
	bob.get("/client/notifications?after=garbage").is(400, "cursor_invalid")
	bob.post("/client/notifications/read", object{"user_id": ada.login.User.ID}).is(400, "invalid_request")
}

func TestAQuestionIsToldToWhoMayAnswerItAndReadWhenItIsAnswered(t *testing.T) {
	q := newQuestion(t)
	question := "/client/notifications/" + string(q.request) + "/read"
	if page := q.ada.told("?unread=true"); len(page.Items) != 1 || page.Items[0].ID != string(q.request) || page.Items[0].Type != "prompt" || page.Unread != 1 {
		t.Fatalf("told %+v", page)
	}
	q.ada.post(question, nil).is(409, "conflict")
	q.bob.post(question, nil).is(404, "not_found")
	q.ada.post("/client/notifications/read", object{}).is(204, "")
	if page := q.ada.told(""); page.Unread != 1 {
		t.Errorf("a question that nobody answered is read: %+v", page)
	}
	if page := q.bob.told(""); len(page.Items) != 0 {
		t.Errorf("a stranger is told %+v", page)
	}
	q.ada.post(q.path, object{"decision": "allow"}).is(200, "")
	if page := q.ada.told(""); len(page.Items) != 1 || !page.Items[0].Read || page.Unread != 0 {
		t.Errorf("told %+v", page)
	}
}

func TestWhoAskedForARunIsToldThatItIsOver(t *testing.T) {
	p := newPlace(t)
	p.ada.post("/client/sessions/"+p.session+"/members", object{"member_id": p.bob.login.User.ID}).is(201, "")
	p.report(map[event.WireType]any{"run.finished": event.RunCompletedPayload{}})
	page := p.ada.told("?unread=true")
	if len(page.Items) != 1 || page.Items[0].Type != "agent_done" || page.Unread != 1 {
		t.Fatalf("told %+v", page)
	}
	var done struct {
		Task  string `json:"task_id"`
		State string `json:"state"`
	}
	if err := json.Unmarshal(page.Items[0].Payload, &done); err != nil || done.Task != p.task || done.State != "completed" {
		t.Errorf("payload %s", page.Items[0].Payload)
	}
	if page := p.bob.told(""); len(page.Items) != 1 || page.Items[0].Type != "group_invite" {
		t.Errorf("who did not ask is told %+v", page)
	}
	p.ada.post("/client/sessions/"+p.session+"/read", object{"last_read_seq": 1}).is(200, "")
	if page := p.ada.told(""); page.Unread != 0 {
		t.Errorf("after the conversation is read: %+v", page)
	}
}
