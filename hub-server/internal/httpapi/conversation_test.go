package httpapi_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// withBob is a group of ada, who owns it, and bob.
func (p *place) withBob() (path string) {
	p.t.Helper()
	path = "/client/sessions/" + p.session
	p.ada.post(path+"/members", object{"member_id": p.bob.login.User.ID}).is(201, "")
	return path
}

func (c *client) patch(path string, body any) answer { return c.do("PATCH", path, body) }

func TestTheOwnerSaysWhatAGroupIsCalled(t *testing.T) {
	p := newPlace(t)
	demo := p.withBob()
	got := p.ada.patch(demo+"/info", object{"name": "plans", "avatar_url": "https://example.com/a.png?x=1", "announcement": "Friday <é>"}).is(200, "")
	if got.field("name") != "plans" || got.field("avatar_url") != "https://example.com/a.png?x=1" || got.field("announcement") != "Friday <é>" {
		t.Errorf("session %s", got.body)
	}
	p.ada.patch(demo+"/info", object{"avatar_url": ""}).is(200, "")
	p.ada.patch(demo+"/info", object{"name": "plans"}).is(200, "") // which it is called already
	var seen struct {
		Name         string `json:"name"`
		AvatarURL    string `json:"avatar_url"`
		Announcement string `json:"announcement"`
		Version      int    `json:"info_version"`
	}
	p.bob.get(demo).is(200, "").into(&seen)
	if seen.Name != "plans" || seen.AvatarURL != "" || seen.Announcement != "Friday <é>" || seen.Version != 2 {
		t.Errorf("bob sees %+v", seen)
	}
	p.bob.patch(demo+"/info", object{"name": "mine"}).is(403, "forbidden")
	for _, bad := range []object{
		{"name": ""}, {"name": strings.Repeat("x", 101)}, {"owner_id": p.bob.login.User.ID}, {"announcement": strings.Repeat("x", 4001)},
		{"avatar_url": "http://example.com/a.png"}, {"avatar_url": "javascript:alert(1)"}, {"avatar_url": "https://"}, {"avatar_url": "data:image/png;base64,AA=="},
		{"avatar_url": "https://ada:secret@example.com/"}, {"avatar_url": "https://example.com/" + strings.Repeat("x", 2048)}, {"info_version": 9},
	} {
		p.ada.patch(demo+"/info", bad).is(400, "invalid_request")
	}
	private := "/client/sessions/" + p.ada.post("/client/sessions/private", object{"member_id": p.bob.login.User.ID}).is(201, "").field("id")
	p.ada.patch(private+"/info", object{"name": "us"}).is(409, "conflict")
}

func TestAGroupIsHandedOverAndLeft(t *testing.T) {
	p := newPlace(t)
	demo, bob := p.withBob(), p.bob.login.User.ID
	p.bob.post(demo+"/transfer-owner", object{"user_id": bob}).is(403, "forbidden")
	p.ada.post(demo+"/transfer-owner", object{"user_id": string(id.NewUser())}).is(404, "not_found")
	p.ada.post(demo+"/transfer-owner", object{"user_id": p.agent}).is(400, "invalid_request")
	p.ada.post(demo+"/transfer-owner", object{"user_id": p.ada.login.User.ID}).is(200, "") // who has it
	var s struct {
		Owner   string `json:"owner_id"`
		Members []struct {
			ID   string `json:"member_id"`
			Role string `json:"role"`
		} `json:"members"`
	}
	p.ada.post(demo+"/transfer-owner", object{"user_id": bob}).is(200, "").into(&s)
	for _, m := range s.Members {
		if (m.Role == "owner") != (m.ID == bob) {
			t.Errorf("role of %s is %s", m.ID, m.Role)
		}
	}
	if s.Owner != bob || len(s.Members) != 3 {
		t.Errorf("session %+v", s)
	}
	p.ada.patch(demo+"/info", object{"name": "x"}).is(403, "forbidden")
	p.bob.post(demo+"/leave", nil).is(204, "") // ada is the heir
	p.bob.get(demo).is(404, "not_found")
	p.ada.patch(demo+"/info", object{"name": "x"}).is(200, "")
	private := "/client/sessions/" + p.ada.post("/client/sessions/private", object{"member_id": bob}).is(201, "").field("id")
	p.bob.post(private+"/leave", nil).is(409, "conflict")
	p.ada.post(private+"/dissolve", nil).is(409, "conflict")
	p.ada.post(private+"/transfer-owner", object{"user_id": bob}).is(409, "conflict")
}

func TestADissolvedGroupIsReadAndNothingElse(t *testing.T) {
	p := newPlace(t)
	demo := p.withBob()
	p.bob.post(demo+"/dissolve", nil).is(403, "forbidden")
	first := p.ada.post(demo+"/dissolve", nil).is(200, "").field("dissolved_at")
	if again := p.ada.post(demo+"/dissolve", nil).is(200, "").field("dissolved_at"); first == "" || again != first {
		t.Errorf("dissolved at %q, again %q", first, again)
	}
	for _, c := range []struct {
		by           *client
		method, path string
		body         any
	}{
		{p.bob, "POST", demo + "/messages", text("hi")},
		{p.ada, "POST", demo + "/messages", text("@scout go")},
		{p.ada, "PUT", "/client/messages/" + p.message, object{"content": object{"text": "hi"}}},
		{p.ada, "POST", "/client/messages/" + p.message + "/recall", nil},
		{p.ada, "POST", demo + "/runs", object{"prompt": "go"}},
		{p.ada, "POST", demo + "/runs", object{"trigger_message_id": p.message}},
		{p.ada, "POST", "/web/agent-tasks", object{"session_id": p.session, "agent_id": p.agent, "prompt": "x"}},
		{p.ada, "POST", demo + "/members", object{"member_id": p.ada.invite("carl").login.User.ID}},
		{p.ada, "DELETE", demo + "/members/" + p.bob.login.User.ID, nil},
		{p.bob, "POST", demo + "/leave", nil},
		{p.ada, "PATCH", demo + "/info", object{"name": "x"}},
		{p.ada, "POST", demo + "/transfer-owner", object{"user_id": p.bob.login.User.ID}},
	} {
		c.by.do(c.method, c.path, c.body).is(410, "session_dissolved")
	}
	p.bob.get(demo+"/messages").is(200, "")
	p.bob.post(demo+"/read", object{"last_read_seq": 1}).is(200, "")
	if list := p.bob.get("/client/sessions").is(200, ""); !strings.Contains(string(list.body), first) {
		t.Errorf("not in the list: %s", list.body)
	}
}

func TestSettingsAreEachMembersOwn(t *testing.T) {
	p := newPlace(t)
	demo := p.withBob()
	type settings struct {
		Pinned   bool `json:"pinned"`
		Archived bool `json:"archived"`
		Muted    bool `json:"muted"`
		Version  int  `json:"settings_version"`
	}
	of := func(a answer) (s settings) {
		a.is(200, "").into(&s)
		return s
	}
	if got := of(p.bob.patch(demo+"/settings", object{"pinned": true, "muted": true})); got != (settings{true, false, true, 1}) {
		t.Errorf("set %+v", got)
	}
	of(p.bob.patch(demo+"/settings", object{"pinned": false, "archived": true}))
	of(p.bob.patch(demo+"/settings", object{"archived": true})) // as it is
	p.ada.post(demo+"/messages", text("are you there?")).is(201, "")
	if got := of(p.bob.get(demo)); got != (settings{false, true, true, 2}) {
		t.Errorf("bob has %+v", got)
	}
	if got := of(p.ada.get(demo)); got != (settings{}) {
		t.Errorf("ada has %+v", got)
	}
	p.bob.patch(demo+"/settings", object{"pinned": "yes"}).is(400, "invalid_request")
	p.ada.post(demo+"/dissolve", nil).is(200, "")
	of(p.ada.patch(demo+"/settings", object{"archived": true})) // still hers to put away
}
