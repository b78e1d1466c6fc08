package httpapi_test

import "testing"

type reading struct {
	LastRead int64 `json:"last_read_seq"`
	LastSeq  int64 `json:"last_seq"`
	Unread   int64 `json:"unread"`
	Marks    []struct {
		User     string `json:"user_id"`
		LastRead int64  `json:"last_read_seq"`
	} `json:"read_marks"`
}

// reads is what a person has read of a conversation, as the list and the conversation itself say.
func (c *client) reads(path string) (r reading) {
	c.hub.t.Helper()
	c.get(path).is(200, "").into(&r)
	return r
}

// wantBadge demands what is unread in all conversations.
func (c *client) wantBadge(unread, sessions int64) {
	c.hub.t.Helper()
	var got struct{ Unread, Sessions int64 }
	c.get("/client/unread").is(200, "").into(&got)
	if got.Unread != unread || got.Sessions != sessions {
		c.hub.t.Errorf("%s has %+v, want %d in %d", c.login.User.Name, got, unread, sessions)
	}
}

func TestWhatIsUnreadIsCountedForEachMember(t *testing.T) {
	p := newPlace(t)
	demo := p.withBob() // one message was sent before
	if got := p.bob.reads(demo); got.LastRead != 1 || got.Unread != 0 {
		t.Errorf("who joins has read %+v", got)
	}
	p.bob.wantBadge(0, 0)
	second := p.ada.post(demo+"/messages", text("two")).receipt().Message
	p.ada.post(demo+"/messages", text("three")).is(201, "")
	p.bob.post(demo+"/messages", text("four")).is(201, "")
	p.bob.wantBadge(2, 1)
	p.ada.wantBadge(1, 1)
	p.ada.post("/client/messages/"+second+"/recall", nil).is(200, "")
	p.bob.wantBadge(1, 1)
	var mark reading
	p.bob.post(demo+"/read", object{"last_read_seq": 3}).is(200, "").into(&mark)
	if mark.LastRead != 3 || mark.LastSeq != 4 || mark.Unread != 0 {
		t.Errorf("marked as %+v", mark)
	}
	p.bob.wantBadge(0, 0)
	if got := p.ada.reads(demo); got.LastRead != 0 || got.Unread != 1 || len(got.Marks) != 1 || got.Marks[0].User != p.bob.login.User.ID || got.Marks[0].LastRead != 3 {
		t.Errorf("ada has %+v", got)
	}
	p.ada.patch(demo+"/settings", object{"muted": true}).is(200, "")
	p.ada.wantBadge(0, 0)
}

// Who has read everything before they were invited reads of the invitation by reading on where their mark stands.
func TestAnInvitationIsReadWithTheConversationThoughTheMarkStands(t *testing.T) {
	p := newPlace(t)
	demo := p.withBob()
	if got := p.bob.told("?unread=true"); got.Unread != 1 {
		t.Fatalf("told %+v", got)
	}
	p.bob.post(demo+"/read", object{"last_read_seq": 1}).is(200, "")
	if got := p.bob.told("?unread=true"); got.Unread != 0 {
		t.Errorf("told %+v", got)
	}
}
