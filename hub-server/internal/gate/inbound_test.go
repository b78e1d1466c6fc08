package gate

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func (c *client) say(text string) {
	c.t.Helper()
	if err := c.socket.Write(c.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// pair is two people in a conversation and one outside of it, connected to two hubs.
type pair struct {
	session            id.Session
	user               id.User
	one, two, stranger *client
	hub                *hub
}

func newPair(t *testing.T, change ...func(*Deps)) pair {
	t.Helper()
	w := newWorld(t)
	here, there := w.hub(nil, change...), w.hub(nil, change...)
	p := pair{session: id.NewSession(), hub: here}
	a, one := w.login(id.NewUser())
	b, two := w.login(id.NewUser())
	c, _ := w.login(id.NewUser())
	w.commit(member(p.session, one.User, delivery.Joined), member(p.session, two.User, delivery.Joined))
	p.user = one.User
	p.one, p.two, p.stranger = here.dial(a, ""), there.dial(b, ""), there.dial(c, "")
	for _, c := range []*client{p.one, p.two, p.stranger} {
		c.greeted()
	}
	p.attach(w, one.User, two.User)
	return p
}

// attach waits until what one says reaches two: a stream that still catches up goes without what is stored nowhere.
func (p *pair) attach(w *world, one, two id.User) {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for !p.hub.Tail.InSession(one, p.session) {
		<-look.C
	}
	var speaking sync.WaitGroup
	heard := make(chan struct{})
	speaking.Go(func() {
		for {
			p.hub.typing(p.session, one)
			select {
			case <-look.C:
			case <-heard:
				return
			}
		}
	})
	p.two.next()
	close(heard)
	speaking.Wait()
	w.commit(note(delivery.ToUser(two), 0))
	for p.two.next().Type != SessionInfoUpdated { // behind the rest of what was heard
	}
}

func TestTypingReachesTheOthersOnEveryHub(t *testing.T) {
	p := newPair(t)
	for _, payload := range []string{`{"session_id":"` + string(p.session) + `"}`, `"` + string(p.session) + `"`} {
		p.one.say(`{"type":"typing","seq_id":99,"cursor":"x","payload":` + payload + `}`)
		f := p.two.next()
		var got struct {
			Session id.Session `json:"session_id"`
			User    id.User    `json:"user_id"`
		}
		if err := json.Unmarshal(f.Payload, &got); err != nil || f.Type != Typing || f.Cursor != "" || got.Session != p.session || got.User != p.user {
			t.Errorf("the other got %s %s with cursor %q", f.Type, f.Payload, f.Cursor)
		}
	}
}

// A client cannot name another sender, nor write into a conversation it is not in; whatever else it sends is ignored and counted, and
// its connection lives on.
func TestOtherFramesOfClientsAreIgnoredAndCounted(t *testing.T) {
	p := newPair(t)
	typing := func(session string) string { return `{"type":"typing","payload":{"session_id":"` + session + `"}}` }
	deep := `{"type":"typing","payload":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`
	for _, text := range []string{
		"", "garbage", `[]`, `{"type":"auth","payload":{"token":"x"}}`, `{"type":"message.new","payload":{"text":"hi"}}`,
		`{"type":"sync.request"}`, typing("sess_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55"), typing("x"), `{"type":"typing"}`, `{"type":7}`, deep,
	} {
		p.one.say(text)
	}
	p.one.say(`{"type":"typing","payload":{"session_id":"` + string(p.session) + `","user_id":"user_of_somebody_else"}}`)
	f := p.two.next()
	if f.Type != Typing || !strings.Contains(string(f.Payload), string(p.user)) {
		t.Errorf("the other got %s %s", f.Type, f.Payload)
	}
	metrics := scrape(p.hub)
	for reason, want := range map[string]string{ignoredInvalid: "7", ignoredType: "3", ignoredForeign: "1"} {
		if line := `hub_client_inbound_ignored_total{reason="` + reason + `"} ` + want; !strings.Contains(metrics, line) {
			t.Errorf("metrics do not say %s:\n%s", line, grep(metrics, "ignored"))
		}
	}
}

func scrape(h *hub) string {
	rec := httptest.NewRecorder()
	h.Metrics.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	body, err := io.ReadAll(rec.Body)
	if err != nil {
		panic(err)
	}
	return string(body)
}

func grep(text, word string) string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}

func TestAClientThatTalksTooMuchIsIgnored(t *testing.T) {
	for name, rate := range map[string]Rate{"the usual": defaultInbound, "what was set": {PerSecond: 2, Burst: 5}} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, func(d *Deps) { d.Inbound = rate })
			burst, perSecond := int(rate.Burst), int(rate.PerSecond)
			for range 3 * burst {
				p.one.say(`{"type":"typing","payload":"` + string(p.session) + `"}`)
			}
			heard := 0
			for within := 10 * time.Second; ; within = 500 * time.Millisecond {
				if _, err := p.two.tryNext(within); err != nil {
					break
				}
				heard++
			}
			if heard < burst || heard > burst+perSecond {
				t.Errorf("the other heard %d of %d, want a burst of %d and little more", heard, 3*burst, burst)
			}
		})
	}
}

func TestAnOversizedMessageEndsTheConnection(t *testing.T) {
	p := newPair(t)
	p.one.say(`{"type":"x","payload":"` + strings.Repeat("x", readLimit-100) + `"}`)
	p.one.say(`{"type":"typing","payload":"` + string(p.session) + `"}`)
	if f := p.two.next(); f.Type != Typing {
		t.Errorf("a message within the limit hurt: got %s", f.Type)
	}
	p.one.say(strings.Repeat("x", readLimit+1))
	if got := p.one.closed(); got.Code != websocket.StatusMessageTooBig {
		t.Errorf("closed with %d %s, want %d", got.Code, got.Reason, websocket.StatusMessageTooBig)
	}
}

func TestBucketAllowsABurstAndThenARate(t *testing.T) {
	b, now := NewBucket(Rate{10, 20}), time.Unix(1, 0)
	allowed := 0
	for range 50 {
		if b.Take(now) {
			allowed++
		}
	}
	if allowed != 20 {
		t.Errorf("burst of %d, want 20", allowed)
	}
	for range 100 { // a second in steps of 10 ms
		now = now.Add(10 * time.Millisecond)
		if b.Take(now) {
			allowed++
		}
	}
	if allowed < 29 || allowed > 30 {
		t.Errorf("%d after a second, want 30", allowed)
	}
}

func FuzzInbound(f *testing.F) {
	f.Add([]byte(`{"type":"typing","payload":{"session_id":"sess_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55"}}`))
	f.Add([]byte(`{"type":"typing","payload":"sess_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55"}`))
	f.Add([]byte(`{"type":"typing","payload":null}`))
	f.Add([]byte(`[[[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, err := parseInbound(data)
		if err != nil {
			return
		}
		session, err := parseTyping(frame.Payload)
		if err != nil {
			return
		}
		if _, err := id.ParseSession(string(session)); err != nil {
			t.Errorf("%q was taken for a session", session)
		}
	})
}
