package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// target is where to forward to, given the path of a conversation.
func target(path string) object {
	return object{"session_id": strings.TrimPrefix(path, "/client/sessions/"), "client_msg_id": uuid.NewString()}
}

type forwarded struct {
	Items []struct {
		Session      string `json:"session_id"`
		Message      string `json:"message_id"`
		Seq          int    `json:"seq_id"`
		Deduplicated bool   `json:"deduplicated"`
	} `json:"items"`
}

func TestAForwardedMessageSaysWhoseWordsItIsAndNotWhereTheyWereSaid(t *testing.T) {
	p, demo, message := withBob(t)
	carl := p.ada.invite("carl")
	one, two := p.bob.group("one"), p.bob.group("two")
	p.bob.post(one+"/members", object{"member_id": carl.login.User.ID}).is(201, "")
	to := object{"to": []object{target(one), target(two)}}
	var first, again forwarded
	p.bob.post("/client/messages/"+message+"/forward", to).is(201, "").into(&first)
	p.bob.post("/client/messages/"+message+"/forward", to).is(201, "").into(&again)
	if len(first.Items) != 2 || first.Items[0].Deduplicated || first.Items[1].Seq != 1 || len(again.Items) != 2 ||
		again.Items[1].Message != first.Items[1].Message || !again.Items[0].Deduplicated {
		t.Fatalf("first %+v, again %+v", first, again)
	}
	page := string(carl.get(one+"/messages").is(200, "").body)
	for _, part := range []string{`"text":"a secret"`, `"forwarded":{"sender_name":"bob","sender_type":"user","sent_at":"`, `"sender_id":"` + p.bob.login.User.ID} {
		if !strings.Contains(page, part) {
			t.Errorf("no %s in %s", part, page)
		}
	}
	for _, hidden := range []string{p.session, message} {
		if strings.Contains(page, hidden) {
			t.Errorf("%s says where it was said: %s", hidden, page)
		}
	}
	carl.get(demo+"/messages").is(404, "not_found")

	// What happens to the source does not happen to the copy; that is a message of its own.
	p.bob.do(http.MethodPut, "/client/messages/"+message, object{"content": object{"text": "no secret"}}).is(200, "")
	p.bob.post("/client/messages/"+message+"/recall", nil).is(200, "")
	p.bob.post("/client/messages/"+message+"/forward", to).is(201, "") // the answer may have been lost
	p.bob.post("/client/messages/"+message+"/forward", object{"to": []object{target(one)}}).is(409, "conflict")
	if page := carl.get(one+"/messages").is(200, ""); !strings.Contains(string(page.body), `"text":"a secret"`) {
		t.Errorf("the copy went with its source: %s", page.body)
	}
	copied := "/client/messages/" + first.Items[0].Message
	p.bob.do(http.MethodPut, copied, object{"content": object{"text": "forged"}}).is(409, "conflict")
	var further forwarded
	carl.post(copied+"/forward", object{"to": []object{target(carl.group("carl's"))}}).is(201, "").into(&further)
	onward := carl.get("/client/sessions/"+further.Items[0].Session+"/messages").is(200, "")
	if !strings.Contains(string(onward.body), `"sender_name":"bob"`) {
		t.Errorf("forwarded again, it is not bob's any more: %s", onward.body)
	}
	left := p.bob.post(copied+"/recall", nil).is(200, "")
	if strings.Contains(string(left.body), "forwarded") || strings.Contains(string(left.body), "secret") {
		t.Errorf("left %s", left.body)
	}
}

func TestSEC10OneForwardsWhatOneReadsToWhereOnePosts(t *testing.T) {
	p, demo, message := withBob(t)
	carl := p.ada.invite("carl")
	own, theirs, gone := p.bob.group("own"), carl.group("carl's"), p.bob.group("gone")
	p.bob.post(gone+"/dissolve", nil).is(200, "")
	path := "/client/messages/" + message + "/forward"
	for name, c := range map[string]struct {
		by     *client
		to     object
		status int
		code   string
	}{
		"a stranger to the source": {carl, target(theirs), 404, "not_found"},
		"a stranger to the target": {p.bob, target(theirs), 404, "not_found"},
		"no such target":           {p.bob, target(string(id.NewSession())), 404, "not_found"},
		"a dissolved target":       {p.bob, target(gone), 410, "session_dissolved"},
		"no key":                   {p.bob, object{"session_id": p.session}, 400, "invalid_request"},
		"a sender of one's own":    {p.bob, object{"session_id": p.session, "client_msg_id": uuid.NewString(), "sender_id": "x"}, 400, "invalid_request"},
	} {
		t.Log(name)
		c.by.post(path, object{"to": []object{target(own), c.to}}).is(c.status, c.code)
		if c.by == p.bob {
			if page := p.bob.get(own+"/messages").is(200, ""); strings.Contains(string(page.body), "secret") {
				t.Errorf("%s: half of it was forwarded: %s", name, page.body)
			}
		}
	}
	many := make([]object, 51)
	for i := range many {
		many[i] = target(own)
	}
	p.bob.post(path, object{"to": many}).is(422, "too_large")
	p.bob.post(path, object{"to": []object{}}).is(400, "invalid_request")
	taken := target(demo)
	p.ada.post(demo+"/messages", object{"client_msg_id": taken["client_msg_id"], "content": object{"text": "hers"}}).is(201, "")
	p.bob.post(path, object{"to": []object{taken}}).is(409, "conflict")
}

func TestFilesGoAlongWithWhatIsForwarded(t *testing.T) {
	p, demo, _ := withBob(t)
	carl := p.ada.invite("carl")
	file := p.ada.uploaded("plan", "", []byte("plan"))
	sent := p.ada.post(demo+"/messages", attached("read this", file.URL)).receipt()
	carl.get("/client/attachments/"+file.ID+"/content").is(404, "not_found")
	with := p.bob.group("with carl")
	p.bob.post(with+"/members", object{"member_id": carl.login.User.ID}).is(201, "")
	var copies forwarded
	p.bob.post("/client/messages/"+sent.Message+"/forward", object{"to": []object{target(with)}}).is(201, "").into(&copies)
	p.ada.post("/client/messages/"+sent.Message+"/recall", nil).is(200, "")
	if got := carl.get("/client/attachments/"+file.ID+"/content").is(200, ""); string(got.body) != "plan" {
		t.Errorf("the file is %q", got.body)
	}
	p.bob.post("/client/messages/"+copies.Items[0].Message+"/recall", nil).is(200, "")
	carl.get("/client/attachments/"+file.ID+"/content").is(404, "not_found")
}

// An agent's answer has the run that it came of, which its readers elsewhere may not see. Names in what is forwarded ask nobody anything.
func TestWhatIsForwardedAsksNobody(t *testing.T) {
	p := newPlace(t)
	own := p.ada.group("own", p.agent)
	p.ada.post("/client/messages/"+p.message+"/forward", object{"to": []object{target(own)}}).is(201, "") // "@scout go"
	page := string(p.ada.get(own+"/messages").is(200, "").body)
	if !strings.Contains(page, "@scout go") || strings.Contains(page, "mentions") || strings.Contains(page, "task_ids") {
		t.Errorf("page %s", page)
	}
	tasks := p.ada.get("/web/agent-tasks?session_id="+strings.TrimPrefix(own, "/client/sessions/")).is(200, "")
	if strings.Contains(string(tasks.body), `"trigger_message_id"`) {
		t.Errorf("it started a run: %s", tasks.body)
	}
}
