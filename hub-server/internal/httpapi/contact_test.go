package httpapi_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// stands is how somebody stands on a person's list; "" for not on it.
func (c *client) stands(name string) (state, request string) {
	c.hub.t.Helper()
	var list struct {
		Items []struct {
			Username string `json:"username"`
			State    string `json:"state"`
			Request  string `json:"request_id"`
		} `json:"items"`
	}
	c.get("/client/contacts").is(200, "").into(&list)
	for _, item := range list.Items {
		if item.Username == name {
			return item.State, item.Request
		}
	}
	return "", ""
}

func (c *client) wantStand(name, want string) {
	c.hub.t.Helper()
	if got, _ := c.stands(name); got != want {
		c.hub.t.Errorf("%s stands as %q, want %q", name, got, want)
	}
}

// friendFrames are the frames about friends that came since.
func (c *client) friendFrames(cursor string) (types []string) {
	c.hub.t.Helper()
	all, _ := c.syncAll(cursor, "")
	return slices.DeleteFunc(typesOf(all), func(typ string) bool { return !strings.HasPrefix(typ, "friend.") })
}

func (c *client) now() string { return c.sync("", "").Cursor }

func TestARequestIsAcceptedAndARepeatChangesNothing(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob := ada.invite("bob")
	adas, bobs := ada.now(), bob.now()
	for range 2 {
		ada.post("/client/contacts", object{"username": "bob", "message": "hi"}).is(200, "")
	}
	ada.wantStand("bob", "request_sent")
	state, request := bob.stands("ada")
	if page := bob.told("?unread=true"); state != "request_received" || len(page.Items) != 1 || page.Items[0].Type != "friend_request" {
		t.Fatalf("state %s, told %+v", state, page)
	}
	accept := "/client/contacts/requests/" + request + "/accept"
	ada.post(accept, nil).is(404, "not_found")
	ada.invite("eve").post(accept, nil).is(404, "not_found")
	for range 2 {
		bob.post(accept, nil).is(200, "")
	}
	ada.wantStand("bob", "friend")
	bob.wantStand("ada", "friend")
	if page := bob.told(""); page.Unread != 0 {
		t.Errorf("an answered request is unread: %+v", page)
	}
	for c, cursor := range map[*client]string{ada: adas, bob: bobs} {
		if got := c.friendFrames(cursor); !slices.Equal(got, []string{"friend.request", "friend.accepted"}) {
			t.Errorf("%s got %q", c.login.User.Name, got)
		}
	}
	told := ada.now()
	bob.delete("/client/contacts/"+ada.login.User.ID).is(204, "")
	bob.delete("/client/contacts/"+ada.login.User.ID).is(204, "")
	ada.wantStand("bob", "")
	if all, _ := ada.syncAll(told, ""); len(all) != 0 {
		t.Errorf("who was removed is told %v", all)
	}
}

func TestTwoWhoAskEachOtherAreFriendsEvenAfterADecline(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob := ada.invite("bob")
	ada.post("/client/contacts", object{"username": "bob"}).is(200, "")
	_, request := bob.stands("ada")
	bob.post("/client/contacts/requests/"+request+"/decline", nil).is(204, "")
	bob.post("/client/contacts/requests/"+request+"/decline", nil).is(404, "not_found")
	bob.wantStand("ada", "")
	ada.wantStand("bob", "request_sent")
	bob.post("/client/contacts", object{"username": "ada"}).is(200, "")
	ada.wantStand("bob", "friend")
	bob.wantStand("ada", "friend")
}

func TestSEC11WhoIsBlockedGetsWhatANobodysNameGets(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob := ada.invite("bob")
	adaID, group := ada.login.User.ID, bob.group("demo")
	ada.post("/client/contacts", object{"username": "bob"}).is(200, "")
	bob.post("/client/contacts", object{"username": "ada"}).is(200, "")
	bobs := bob.now()
	for range 2 {
		ada.put("/client/contacts/"+bob.login.User.ID+"/block").is(204, "")
	}
	bob.wantStand("ada", "")
	ada.wantStand("bob", "blocked")
	if all, _ := bob.syncAll(bobs, ""); len(all) != 0 {
		t.Errorf("who was blocked is told %v", all)
	}
	nobody := string(id.NewUser())
	for _, c := range []struct {
		path             string
		blocked, unknown any
		method, other    string
	}{
		{"/client/contacts", object{"username": "ada"}, object{"username": "nobody"}, "POST", ""},
		{"/client/sessions/private", object{"member_id": adaID}, object{"member_id": nobody}, "POST", ""},
		{"/client/sessions/group", object{"name": "x", "member_ids": []string{adaID}}, object{"name": "x", "member_ids": []string{nobody}}, "POST", ""},
		{group + "/members", object{"member_id": adaID}, object{"member_id": nobody}, "POST", ""},
		{"/client/people/ada", nil, nil, "GET", "/client/people/nobody"},
	} {
		blocked := bob.do(c.method, c.path, c.blocked).is(404, "not_found")
		if c.other == "" {
			c.other = c.path
		}
		unknown := bob.do(c.method, c.other, c.unknown).is(404, "not_found")
		if withoutTrace(t, blocked) != withoutTrace(t, unknown) {
			t.Errorf("%s tells a block from nobody:\n%s\n%s", c.path, blocked.body, unknown.body)
		}
	}
	ada.post("/client/contacts", object{"username": "bob"}).is(409, "conflict")
	ada.put("/client/contacts/"+adaID+"/block").is(400, "invalid_request")
	ada.put("/client/contacts/"+nobody+"/block").is(404, "not_found")
	ada.delete("/client/contacts/"+bob.login.User.ID+"/block").is(204, "")
	bob.get("/client/people/ada").is(200, "")
	bob.post("/client/sessions/private", object{"member_id": adaID}).is(201, "")
}

// connected stands for the presence of people, and notes between whom something has changed.
type connected struct {
	mu     sync.Mutex
	people map[string]bool
	pairs  [][2]string
}

func (c *connected) Online(u id.User) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.people[string(u)]
}

func (c *connected) set(user string, online bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.people[user] = online
}

func (c *connected) changed(a, b id.User) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pairs = append(c.pairs, [2]string{string(a), string(b)})
}

// seen is what a person's list says of the presence of somebody.
func (c *client) seen(name string) sighting {
	c.hub.t.Helper()
	var list struct {
		Items []sighting `json:"items"`
	}
	c.get("/client/contacts").is(200, "").into(&list)
	for _, item := range list.Items {
		if item.Username == name {
			return item
		}
	}
	return sighting{}
}

type sighting struct {
	Username string     `json:"username"`
	Online   bool       `json:"online"`
	LastSeen *time.Time `json:"last_seen_at"`
}

func TestWhoIsOnlineIsSeenByFriendsAlone(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob := ada.invite("bob")
	h.people.set(bob.login.User.ID, true)
	want := func(what string, online, seen bool) {
		t.Helper()
		if got := ada.seen("bob"); got.Online != online || (got.LastSeen != nil) != seen {
			t.Errorf("%s: seen as %+v", what, got)
		}
	}
	ada.post("/client/contacts", object{"username": "bob"}).is(200, "")
	want("asked", false, false)
	bob.post("/client/contacts", object{"username": "ada"}).is(200, "")
	want("a friend, there", true, false)
	h.people.set(bob.login.User.ID, false)
	want("a friend, not there", false, true)
	h.people.set(bob.login.User.ID, true)
	for range 2 {
		bob.delete("/client/contacts/"+ada.login.User.ID).is(204, "")
		bob.put("/client/contacts/"+ada.login.User.ID+"/block").is(204, "")
		ada.delete("/client/contacts/"+bob.login.User.ID).is(204, "")
	}
	want("blocked", false, false)
	if len(h.people.pairs) != 2 {
		t.Errorf("told of changes between %v, want of the beginning and the end of a friendship", h.people.pairs)
	}
}

func TestPeopleAreFoundByTheirExactNameAlone(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob := ada.invite("bob")
	if got := ada.get("/client/people/bob").is(200, "").field("user_id"); got != bob.login.User.ID {
		t.Errorf("found %s", got)
	}
	for _, name := range []string{"bo", "bobb", "b%25", "Bob", "_ob"} {
		if a := ada.get("/client/people/" + name); a.status != 404 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	ada.post("/client/contacts", object{"username": "ada"}).is(400, "invalid_request")
	ada.post("/client/contacts", object{"username": "bob", "from_user_id": bob.login.User.ID}).is(400, "invalid_request")
}

func TestLoggingOutEverywhereEndsEveryDeviceOfOneselfAndNoOther(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob := ada.invite("bob")
	phone := h.signedIn(ada.post("/client/devices", object{"type": "mobile", "name": "phone"}).is(201, ""))
	ada.post("/client/auth/logout-everywhere", nil).is(204, "")
	for _, c := range []*client{ada, phone} {
		c.get("/client/auth/me").is(401, "unauthenticated")
		h.anonymous().post("/client/auth/refresh", object{"refresh_token": c.login.Refresh}).is(401, "unauthenticated")
	}
	bob.get("/client/auth/me").is(200, "")
	if got := len(h.ended); got != 2 {
		t.Errorf("%d families were reported as ended, want 2", got)
	}
}

func TestWhoIsNamedInAMessageIsTold(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob, eve := ada.invite("bob"), ada.invite("eve")
	group := ada.group("demo")
	ada.post(group+"/members", object{"member_id": bob.login.User.ID}).is(201, "")
	ada.post(group+"/messages", text("@bob, @eve and @ada: lunch?")).is(201, "")
	page := bob.told("?limit=1")
	if page.Items[0].Type != "mention" || strings.Contains(string(page.Items[0].Payload), "lunch") {
		t.Errorf("told %+v", page)
	}
	for _, c := range []*client{ada, eve} {
		if page := c.told(""); len(page.Items) != 0 {
			t.Errorf("%s is told %+v", c.login.User.Name, page)
		}
	}
}
