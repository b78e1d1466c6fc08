package httpapi_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/shared/event"
)

type syncPage struct {
	Resume string `json:"resume"`
	Reason string `json:"reason"`
	Items  []struct {
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
		Cursor  string          `json:"cursor"`
	} `json:"items"`
	Cursor string `json:"cursor"`
	More   bool   `json:"more"`
}

// sync asks for one page after a cursor.
func (c *client) sync(cursor, more string) (page syncPage) {
	c.hub.t.Helper()
	if cursor != "" {
		more += "&cursor=" + url.QueryEscape(cursor)
	}
	a := c.get("/client/sync?"+strings.TrimPrefix(more, "&")).is(200, "")
	if strings.Contains(string(a.body), `"seq_id":0`) {
		c.hub.t.Errorf("numbered: %s", a.body)
	}
	a.into(&page)
	return page
}

// syncAll asks until there is no more, and returns the frames as texts.
func (c *client) syncAll(cursor, more string) (frames []string, to string) {
	c.hub.t.Helper()
	for {
		page := c.sync(cursor, more)
		if page.Resume != "replayed" {
			c.hub.t.Fatalf("%s %s", page.Resume, page.Reason)
		}
		for _, f := range page.Items {
			frames = append(frames, f.Type+" "+string(f.Payload))
		}
		if cursor = page.Cursor; !page.More {
			return frames, cursor
		}
	}
}

func typesOf(frames []string) (types []string) {
	for _, f := range frames {
		name, _, _ := strings.Cut(f, " ")
		types = append(types, name)
	}
	return types
}

func TestEverythingThatChangesIsReadWithoutASocket(t *testing.T) {
	p := newPlace(t)
	begin := p.ada.get("/client/sync").is(200, "")
	if begin.field("resume") != "fresh" || begin.field("cursor") == "" {
		t.Fatalf("begins with %s", begin.body)
	}
	start, bobs := begin.field("cursor"), p.bob.get("/client/sync").field("cursor")
	demo := "/client/sessions/" + p.session
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	edge.delta("hello")
	p.ada.post(demo+"/members", object{"member_id": p.bob.login.User.ID}).is(201, "")
	p.ada.post(demo+"/messages", text("<hi> @bob")).is(201, "")
	p.bob.post(demo+"/read", object{"last_read_seq": 2}).is(200, "")
	p.ada.delete(demo+"/members/"+p.bob.login.User.ID).is(204, "")
	p.ada.post(demo+"/messages", text("after bob")).is(201, "")

	all, to := p.ada.syncAll(start, "")
	want := []string{
		"agent.stream", "agent.stream", "session.member_joined", "message.read", "message.new", "message.read", "session.member_left", "message.new",
	}
	if got := typesOf(all); !slices.Equal(got, want) {
		t.Errorf("ada got %v, want %v", got, want)
	}
	if one, end := p.ada.syncAll(start, "&limit=1"); !slices.Equal(one, all) || end != to {
		t.Errorf("step by step: %v up to %s", one, end)
	}
	if again, _ := p.ada.syncAll(to, ""); again != nil {
		t.Errorf("behind the end: %v", again)
	}
	// Whoever was removed has nothing of the conversation any more, but for being told so (SEC13).
	theirs, _ := p.bob.syncAll(bobs, "")
	if got := typesOf(theirs); !slices.Equal(got, []string{"session.created", "notification.new", "notification.new", "notification.new", "notification.new", "session.member_left"}) {
		t.Errorf("bob got %v", theirs)
	}
	// A cursor opens nothing: what it shows is decided by who shows it (SEC11).
	if stolen, _ := p.ada.invite("eve").syncAll(start, ""); stolen != nil {
		t.Errorf("eve got %v", stolen)
	}
}

func TestASyncThatCannotBeContinuedIsAReset(t *testing.T) {
	p := newPlace(t)
	page := p.ada.sync("garbage", "")
	if page.Resume != "reset" || page.Reason != "cursor_invalid" || page.Cursor == "" || len(page.Items) > 0 {
		t.Errorf("%+v", page)
	}
	for _, query := range []string{"limit=0", "limit=501", "wait=-1", "wait=26", "wait=x"} {
		p.ada.get("/client/sync?"+query).is(400, "invalid_request")
	}
	p.anonymous().get("/client/sync").is(401, "unauthenticated")
}

func TestASyncMayWaitForNews(t *testing.T) {
	p := newPlace(t)
	start := p.ada.sync("", "").Cursor
	got := make(chan syncPage)
	go func() { got <- p.ada.sync(start, "&wait=25") }()
	p.ada.post("/client/sessions/"+p.session+"/messages", object{"client_msg_id": uuid.NewString(), "content": object{"text": "news"}}).is(201, "")
	if page := <-got; len(page.Items) != 1 || page.Items[0].Type != "message.new" {
		t.Errorf("%+v", page)
	}
	if page := p.ada.sync(p.ada.sync(start, "").Cursor, "&wait=1"); page.Resume != "replayed" || len(page.Items) > 0 {
		t.Errorf("after a second of nothing: %+v", page)
	}
}

// Logging out answers at once, and with nothing (SEC8).
func TestASyncDoesNotOutliveItsLogin(t *testing.T) {
	p := newPlace(t)
	start := p.ada.sync("", "").Cursor
	other := p.signedIn(p.hub.anonymous().post("/client/auth/login", credentials("ada", password)).is(200, ""))
	got := make(chan answer)
	go func() { got <- other.get("/client/sync?wait=25&cursor=" + url.QueryEscape(start)) }()
	other.post("/client/auth/logout", nil).is(204, "")
	p.ada.post("/client/sessions/"+p.session+"/messages", text("not for them")).is(201, "")
	a := <-got // 200 with nothing, or 401 if the logout was there first
	if strings.Contains(string(a.body), "not for them") || a.status != 200 && a.status != 401 {
		t.Errorf("%d %s", a.status, a.body)
	}
	other.get("/client/sync").is(401, "unauthenticated")
}
