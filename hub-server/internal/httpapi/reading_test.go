package httpapi_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
)

type messagePage struct {
	Items []struct {
		Seq     int `json:"seq_id"`
		Content struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"items"`
	Next int `json:"next"`
	Last int `json:"last_seq"`
}

func (c *client) messages(path string) (page messagePage) {
	c.hub.t.Helper()
	c.get(path).is(200, "").into(&page)
	return page
}

func TestMessagesArePagedBothWays(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	demo := ada.group("demo")
	for i := range 7 {
		ada.post(demo+"/messages", fmt.Sprintf(`{"client_msg_id":%q,"content":{"text":"<%d>"}}`, uuid.NewString(), i+1)).is(201, "")
	}
	var back []int
	for path := demo + "/messages?limit=3"; ; {
		page := ada.messages(path)
		if page.Last != 7 {
			t.Fatalf("page %+v", page)
		}
		for i := len(page.Items) - 1; i >= 0; i-- {
			back = append(back, page.Items[i].Seq)
		}
		if page.Next == 0 {
			break
		}
		path = fmt.Sprint(demo, "/messages?limit=3&before_seq=", page.Next)
	}
	var forth []int
	for path := demo + "/messages/sync?after_seq=0&limit=3"; ; {
		page := ada.messages(path)
		for _, m := range page.Items {
			forth = append(forth, m.Seq)
		}
		if page.Next == 0 {
			break
		}
		path = fmt.Sprint(demo, "/messages/sync?limit=3&after_seq=", page.Next)
	}
	if fmt.Sprint(back) != "[7 6 5 4 3 2 1]" || fmt.Sprint(forth) != "[1 2 3 4 5 6 7]" {
		t.Fatalf("back %v, forth %v", back, forth)
	}
	if raw := ada.get(demo+"/messages?limit=1").is(200, ""); !strings.Contains(string(raw.body), `"text":"<7>"`) {
		t.Fatalf("content was rewritten: %s", raw.body)
	}
	if page := ada.messages(demo + "/messages/sync?after_seq=7"); len(page.Items) != 0 || page.Next != 0 {
		t.Fatalf("after the last: %+v", page)
	}
}

func TestTheReadMarkOnlyMovesForward(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	demo := ada.group("demo")
	for range 3 {
		ada.post(demo+"/messages", text("hi")).is(201, "")
	}
	for _, step := range []struct{ to, stands int }{{2, 2}, {1, 2}, {99, 3}, {0, 3}} {
		var mark struct {
			Stands int `json:"last_read_seq"`
		}
		ada.post(demo+"/read", object{"last_read_seq": step.to}).is(200, "").into(&mark)
		if mark.Stands != step.stands {
			t.Fatalf("mark to %d stands at %d", step.to, mark.Stands)
		}
	}
	ada.post(demo+"/read", object{"last_read_seq": -1}).is(400, "invalid_request")
}

func TestConversationsAreFoundByName(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	var list struct {
		Items []struct {
			Name string `json:"name"`
		} `json:"items"`
		Next string `json:"next"`
	}
	for _, name := range []string{"one", "two & three", "one"} {
		ada.group(name)
	}
	ada.get("/client/sessions?name="+url.QueryEscape("two & three")).is(200, "").into(&list)
	if len(list.Items) != 1 || list.Items[0].Name != "two & three" {
		t.Fatalf("list %+v", list)
	}
	seen := 0
	for after := ""; ; after = "&after=" + list.Next {
		list.Items, list.Next = nil, ""
		ada.get("/client/sessions?limit=1"+after).is(200, "").into(&list)
		if seen += len(list.Items); list.Next == "" {
			break
		}
	}
	if seen != 3 {
		t.Fatalf("%d conversations in pages of one", seen)
	}
}

func TestAPrivateConversationWithAnAgentNeedsNoMention(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	_, _, scout := ada.enrolled("laptop")
	private := ada.post("/client/sessions/private", object{"member_id": scout, "name": "just us"}).is(201, "")
	path := "/client/sessions/" + private.field("id")
	if sent := ada.post(path+"/messages", text("what changed?")).receipt(); len(sent.Tasks) != 1 {
		t.Fatalf("receipt %+v", sent)
	}
	code := text("")
	code["content_type"], code["content"] = "code", object{"code": "x := 1"}
	if sent := ada.post(path+"/messages", code).receipt(); len(sent.Tasks) != 0 { // only text is interpreted
		t.Fatalf("receipt %+v", sent)
	}
	bob := ada.invite("bob")
	ada.post(path+"/members", object{"member_id": bob.login.User.ID}).is(409, "conflict")
	ada.delete(path+"/members/"+scout).is(409, "conflict")
	if with := ada.post("/client/sessions/private", object{"member_id": bob.login.User.ID}).is(201, ""); with.field("type") != "private" {
		t.Fatalf("session %s", with.body)
	}
}

func TestAPrivateConversationIsTheSameForWhoeverAsksAgain(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob := ada.invite("bob")
	first := ada.post("/client/sessions/private", object{"member_id": bob.login.User.ID, "name": "us"}).is(201, "").field("id")
	ada.post("/client/sessions/"+first+"/messages", text("hi")).is(201, "")
	for _, again := range []answer{
		ada.post("/client/sessions/private", object{"member_id": bob.login.User.ID}),
		bob.post("/client/sessions/private", object{"member_id": ada.login.User.ID, "name": "another"}),
	} {
		if again.is(201, ""); again.field("id") != first || again.field("name") != "us" {
			t.Errorf("another conversation: %s", again.body)
		}
	}
}

func TestMembersComeAndGo(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob, carl := ada.invite("bob"), ada.invite("carl")
	demo := ada.group("demo", bob.login.User.ID)
	first := bob.post(demo+"/members", object{"member_id": carl.login.User.ID}).is(201, "")
	if again := bob.post(demo+"/members", object{"member_id": carl.login.User.ID}).is(201, ""); string(again.body) != string(first.body) {
		t.Fatalf("%s, then %s", first.body, again.body)
	}
	bob.delete(demo+"/members/"+carl.login.User.ID).is(403, "forbidden")
	ada.delete(demo+"/members/"+bob.login.User.ID).is(204, "")
	ada.delete(demo+"/members/"+bob.login.User.ID).is(404, "not_found")
	ada.delete(demo+"/members/"+ada.login.User.ID).is(204, "") // the owner leaves
	ada.get(demo).is(404, "not_found")
	if s := carl.get(demo).is(200, ""); s.field("owner_id") != carl.login.User.ID {
		t.Fatalf("session %s", s.body)
	}
}

func TestATaskStartsForAPromptOrAMessage(t *testing.T) {
	p := newPlace(t)
	started := p.ada.post("/web/agent-tasks", object{"session_id": p.session, "agent_id": p.agent, "prompt": "look at @writer"}).is(201, "")
	if started.field("state") != "dispatched" || started.field("requested_by") != p.ada.login.User.ID {
		t.Fatalf("task %s", started.body)
	}
	page := p.ada.messages("/client/sessions/" + p.session + "/messages")
	if last := page.Items[len(page.Items)-1]; last.Content.Text != "look at @writer" {
		t.Fatalf("messages %+v", page)
	}
	again := p.ada.post("/web/agent-tasks", object{"session_id": p.session, "agent_id": p.agent, "trigger_message_id": p.message}).is(201, "")
	if again.field("trigger_message_id") != p.message {
		t.Fatalf("task %s", again.body)
	}
	if after := p.ada.messages("/client/sessions/" + p.session + "/messages"); after.Last != page.Last {
		t.Fatal("a task for a message wrote another one")
	}
	p.ada.post("/web/agent-tasks", object{
		"session_id": p.session, "agent_id": p.agent, "trigger_message_id": p.message, "prompt": "both",
	}).is(400, "empty_prompt")
	var list struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
		Next string `json:"next"`
	}
	seen := 0
	for after := ""; ; after = "&after=" + list.Next {
		list.Items, list.Next = nil, ""
		p.ada.get("/web/agent-tasks?limit=2"+after).is(200, "").into(&list)
		if seen += len(list.Items); list.Next == "" {
			break
		}
	}
	if seen != 3 {
		t.Fatalf("%d tasks in pages of two", seen)
	}
}
