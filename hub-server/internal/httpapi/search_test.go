package httpapi_test

import (
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/hub-server/internal/search"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/shared/id"
)

type foundPage struct {
	Items []struct {
		Session string `json:"session_id"`
		Content struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"items"`
	Next    string `json:"next"`
	Partial bool   `json:"partial"`
}

// indexed puts everything that was said into the index.
func (h *hub) indexed() {
	h.t.Helper()
	x := search.Indexer{Index: sqlstore.NewSearch(h.store, h.writer), Log: slog.New(slog.DiscardHandler)}
	if err := x.CatchUp(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

func searching(text, more string) string { return "/client/search?q=" + url.QueryEscape(text) + more }

// finds returns the texts that are found, sorted.
func (c *client) finds(text string) (found []string) {
	c.hub.t.Helper()
	var page foundPage
	c.get(searching(text, "")).is(200, "").into(&page)
	for _, m := range page.Items {
		found = append(found, m.Content.Text)
	}
	slices.Sort(found)
	return found
}

func (c *client) wantFound(text string, want ...string) {
	c.hub.t.Helper()
	if got := c.finds(text); !slices.Equal(got, want) {
		c.hub.t.Errorf("%s finds %q by %q, want %q", c.login.User.Name, got, text, want)
	}
}

func TestSEC10MessagesAreFoundByWhoMayReadThem(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob, eve := ada.invite("bob"), ada.invite("eve")
	bobID := bob.login.User.ID
	group := ada.group("demo")
	private := "/client/sessions/" + ada.post("/client/sessions/private", object{"member_id": bobID}).is(201, "").field("id")
	ada.post(group+"/messages", text("the launch code is <b>7</b>")).is(201, "")
	ada.post(private+"/messages", text("launch? 别告诉别人")).is(201, "")
	ada.get(searching("launch", "")).is(200, "") // nothing is indexed yet
	h.indexed()
	ada.wantFound("LAUNCH", "launch? 别告诉别人", "the launch code is <b>7</b>")
	bob.wantFound("launch", "launch? 别告诉别人")
	bob.wantFound("密")
	bob.wantFound("别", "launch? 别告诉别人")
	eve.wantFound("launch")

	ada.post(group+"/members", object{"member_id": bobID}).is(201, "")
	bob.wantFound("launch code", "the launch code is <b>7</b>")
	ada.delete(group+"/members/"+bobID).is(204, "")
	bob.wantFound("launch code")
	bob.wantFound("launch", "launch? 别告诉别人")

	ada.put("/client/contacts/"+bobID+"/block").is(204, "") // who was blocked goes on reading what they were told, and no more than that
	for _, c := range []*client{ada, bob, eve} {
		reads := c.do("GET", private+"/messages", nil).status == 200
		if finds := slices.Contains(c.finds("launch"), "launch? 别告诉别人"); finds != reads {
			t.Errorf("%s reads it: %v, and finds it: %v", c.login.User.Name, reads, finds)
		}
	}
	h.anonymous().get(searching("launch", "")).is(401, "unauthenticated")
	ada.post("/client/search?q=launch", nil).is(404, "not_found")
	ada.delete("/client/search?q=launch").is(404, "not_found")
}

func TestSEC11SearchTellsAForeignConversationFromNothingByNothing(t *testing.T) {
	p := newPlace(t)
	p.indexed()
	mine := p.ada.get(searching("go", "&session_id="+p.session)).is(200, "")
	if !strings.Contains(string(mine.body), "@scout go") || strings.Contains(string(mine.body), `\u003c`) {
		t.Errorf("found %s", mine.body)
	}
	theirs := p.bob.get(searching("go", "&session_id="+p.session)).is(404, "not_found")
	random := p.bob.get(searching("go", "&session_id="+string(id.NewSession()))).is(404, "not_found")
	if withoutTrace(t, theirs) != withoutTrace(t, random) {
		t.Errorf("theirs %s, nobody's %s", theirs.body, random.body)
	}
	// The mark of somebody else's page gives nothing of theirs.
	p.ada.post("/client/sessions/"+p.session+"/messages", text("go on")).is(201, "")
	p.indexed()
	var page foundPage
	p.ada.get(searching("go", "&limit=1")).is(200, "").into(&page)
	if page.Next == "" || page.Partial || len(page.Items) != 1 {
		t.Fatalf("a page of one is %+v", page)
	}
	p.bob.get(searching("go", "&after="+page.Next)).is(200, "").into(&page)
	if len(page.Items) != 0 {
		t.Errorf("with ada's mark bob finds %+v", page)
	}
}

func TestSearchesAreBounded(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	for _, bad := range []string{
		"/client/search", searching("", ""), searching("?!", ""), searching(strings.Repeat("字", 201), ""), searching("a b c d e f g h i j k l m n o p q", ""),
		searching("x", "&limit=0"), searching("x", "&limit=51"), searching("x", "&limit=x"),
	} {
		ada.get(bad).is(400, "invalid_request")
	}
	ada.get(searching("x", "&after=nothing")).is(400, "cursor_invalid")

	h = newHub(t, func(d *httpapi.Deps) { d.Limits.Search = httpapi.Rate{Burst: 3, PerMinute: 1} })
	ada = h.first("ada")
	for range 3 {
		ada.get(searching("x", "")).is(200, "")
	}
	if a := ada.get(searching("x", "")).is(429, "rate_limited"); a.header.Get("Retry-After") == "" {
		t.Error("nothing says when to come again")
	}
	ada.get("/client/sessions").is(200, "") // everything else goes on
}
