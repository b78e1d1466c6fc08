package httpapi_test

import (
	"strings"
	"testing"
)

func TestPinsAndReactionsOverREST(t *testing.T) {
	p, demo, message := withBob(t)
	path := "/client/messages/" + message
	first := p.ada.post(path+"/pin", nil).is(200, "")
	if again := p.bob.post(path+"/pin", nil).is(200, ""); string(again.body) != string(first.body) {
		t.Errorf("again %s, first %s", again.body, first.body)
	}
	p.bob.post(path+"/reactions", object{"reaction": " 👍 "}).is(200, "")
	all := p.ada.post(path+"/reactions", object{"reaction": "👍"}).is(200, "")
	if want := `"count":2,"reaction":"👍","user_ids":["` + p.bob.login.User.ID + `","` + p.ada.login.User.ID; !strings.Contains(string(all.body), want) {
		t.Errorf("reactions %s", all.body)
	}
	for _, read := range []string{demo + "/messages?limit=1", demo + "/pins", demo + "/messages/sync?after_seq=1"} {
		page := string(p.bob.get(read).is(200, "").body)
		if !strings.Contains(page, `"pinned":{"pinned_at":"`) || !strings.Contains(page, `"count":2`) || strings.Count(page, `"seq_id"`) != 1 {
			t.Errorf("%s: %s", read, page)
		}
	}
	for _, bad := range []string{" ", "a\nb", strings.Repeat("é", 65)} {
		p.ada.post(path+"/reactions", object{"reaction": bad}).is(400, "invalid_request")
	}
	p.ada.delete(path+"/reactions?reaction=%F0%9F%91%8D").is(204, "")
	p.ada.delete(path+"/reactions?reaction=%F0%9F%91%8D").is(204, "")
	if left := p.ada.get(path+"/reactions").is(200, ""); !strings.Contains(string(left.body), `"count":1`) {
		t.Errorf("left %s", left.body)
	}
	p.bob.delete(path+"/pin").is(204, "")
	p.ada.get(demo+"/pins").is(200, "")
	p.bob.post(path+"/recall", nil).is(200, "")
	p.ada.post(path+"/pin", nil).is(409, "conflict")
	p.ada.post(path+"/reactions", object{"reaction": "👍"}).is(409, "conflict")
	if left := p.ada.get(path+"/reactions").is(200, ""); string(left.body) != "{\"items\":[]}\n" {
		t.Errorf("left %s", left.body)
	}
}
