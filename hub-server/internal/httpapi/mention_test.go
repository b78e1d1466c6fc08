package httpapi_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// mentioning is text with members listed.
func mentioning(words string, members ...string) object {
	m := text(words)
	m["mentions"] = members
	return m
}

// mentions are those of the newest message of a conversation.
func (c *client) mentions(path string) []string {
	c.hub.t.Helper()
	var page struct {
		Items []struct {
			Mentions []string `json:"mentions"`
		} `json:"items"`
	}
	c.get(path+"/messages?limit=1").is(200, "").into(&page)
	return page.Items[0].Mentions
}

func (c *client) id() string { return c.login.User.ID }

// mentioned is how often somebody was told of a mention.
func (c *client) mentioned() (n int) {
	for _, item := range c.told("").Items {
		if item.Type == "mention" {
			n++
		}
	}
	return n
}

func TestAMentionIsOfAMemberWhateverTheyAreCalled(t *testing.T) {
	p, demo, _ := withBob(t)
	carl := p.ada.invite("carl")
	p.ada.post(demo+"/members", object{"member_id": carl.id()}).is(201, "")
	for i, c := range []struct {
		message object
		want    []string
		told    int // to bob, in all
	}{
		{text("a word"), nil, 0},
		{text("for @bob, please"), []string{p.bob.id()}, 1},
		{mentioning("for the two of you", p.bob.id(), carl.id()), []string{p.bob.id(), carl.id()}, 2},
		{mentioning("@bob", p.bob.id()), []string{p.bob.id()}, 3},
		{mentioning("@scout for @carl", p.bob.id()), []string{p.agent, p.bob.id(), carl.id()}, 4},
		{mentioning("my own", p.ada.id()), []string{p.ada.id()}, 4},
	} {
		p.ada.post(demo+"/messages", c.message).is(201, "")
		if got := p.bob.mentions(demo); !slices.Equal(got, c.want) || p.bob.mentioned() != c.told {
			t.Errorf("message %d mentions %v, want %v; bob was told %d times", i, got, c.want, p.bob.mentioned())
		}
	}
	if carl.mentioned() != 2 || p.ada.mentioned() != 0 {
		t.Errorf("carl was told %d times, ada %d", carl.mentioned(), p.ada.mentioned())
	}
	image := mentioning("", p.bob.id())
	image["content_type"], image["content"] = "link_card", object{"url": "https://example.com/", "title": "look"}
	p.ada.post(demo+"/messages", image).is(201, "")
	if p.bob.mentioned() != 5 {
		t.Errorf("bob was told of %d mentions", p.bob.mentioned())
	}
}

func TestSEC11WhoIsNotInTheConversationIsNotMentioned(t *testing.T) {
	p, demo, _ := withBob(t)
	eve := p.ada.invite("eve")
	theirs := p.ada.post(demo+"/messages", mentioning("hi", eve.id())).is(404, "not_found")
	random := p.ada.post(demo+"/messages", mentioning("hi", string(id.NewUser()))).is(404, "not_found")
	if withoutTrace(t, theirs) != withoutTrace(t, random) {
		t.Errorf("a mention tells somebody from nobody:\n%s\n%s", theirs.body, random.body)
	}
	p.ada.post(demo+"/messages", text("@eve hello")).is(201, "")
	if got := p.bob.mentions(demo); got != nil || len(eve.told("").Items) != 0 {
		t.Errorf("mentioned %v", got)
	}
	p.ada.post(demo+"/messages", mentioning("hi", string(id.NewAgent()))).is(400, "agent_unknown")
	p.ada.post(demo+"/messages", mentioning("hi", p.bob.id(), p.bob.id())).is(400, "invalid_request")
	p.ada.post(demo+"/messages", mentioning("hi", "bob")).is(400, "invalid_request")
}

func TestAnEditMentionsWhomTheNewTextNamesAndTellsNobody(t *testing.T) {
	p, demo, _ := withBob(t)
	carl := p.ada.invite("carl")
	p.ada.post(demo+"/members", object{"member_id": carl.id()}).is(201, "")
	sent := p.ada.post(demo+"/messages", mentioning("for @carl", p.bob.id())).receipt()
	path := "/client/messages/" + sent.Message
	for i, c := range []struct {
		edit object
		want []string
	}{
		{object{"content": object{"text": "for nobody"}}, []string{p.bob.id()}},
		{object{"content": object{"text": "for @scout and @carl"}}, []string{p.agent, p.bob.id(), carl.id()}},
		{object{"content": object{"text": "for @scout and @carl"}, "mentions": []string{}}, []string{p.agent, carl.id()}},
		{object{"content": object{"text": "for nobody"}}, nil},
		{object{"content": object{"text": "for nobody"}, "mentions": []string{carl.id()}}, []string{carl.id()}},
	} {
		p.ada.do(http.MethodPut, path, c.edit).is(200, "")
		if got := p.bob.mentions(demo); !slices.Equal(got, c.want) {
			t.Errorf("edit %d mentions %v, want %v", i, got, c.want)
		}
	}
	if p.bob.mentioned() != 1 || carl.mentioned() != 1 {
		t.Errorf("bob was told %d times, carl %d", p.bob.mentioned(), carl.mentioned())
	}
	p.ada.do(http.MethodPut, path, object{"content": object{"text": "x"}, "mentions": []string{string(id.NewUser())}}).is(404, "not_found")
	p.ada.do(http.MethodPut, path, object{"content": object{"text": "x"}, "mentions": []string{string(id.NewAgent())}}).is(400, "agent_unknown")
}
