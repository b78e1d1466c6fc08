package testhub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/testhub"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type place struct {
	mu     sync.Mutex
	cursor string
}

func (p *place) LoadCursor() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cursor, nil
}

func (p *place) SaveCursor(cursor string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cursor = cursor
	return nil
}

func connect(t *testing.T, h *testhub.Hub) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{Hub: h.URL, Keeper: client.NewMemoryKeeper(client.Credentials{
		AccessToken: "access x", RefreshToken: "refresh x", ExpiresAt: time.Now().Add(time.Hour),
	})})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// listener pulls updates one by one and names the new ones.
type listener struct {
	t    *testing.T
	next func() (client.Update, error, bool)
}

func listen(t *testing.T, f *client.Feed) *listener {
	ctx, cancel := context.WithCancel(context.Background())
	next, stop := iter.Pull2(f.Follow(ctx))
	t.Cleanup(func() { stop(); cancel() })
	l := &listener{t: t, next: next}
	if u := l.update(); u.Link != client.LinkUp {
		t.Fatalf("first update %+v", u)
	}
	return l
}

func (l *listener) update() client.Update {
	l.t.Helper()
	u, err, ok := l.next()
	if err != nil || !ok {
		l.t.Fatalf("ended: %v", err)
	}
	return u
}

// down waits for the link to be down, up for it to be up.
func (l *listener) down() { l.until(client.LinkDown) }
func (l *listener) up()   { l.until(client.LinkUp) }

func (l *listener) until(link client.Link) {
	l.t.Helper()
	for l.update().Link != link {
	}
}

// news returns the keys of the next n new facts.
func (l *listener) news(n int) []string {
	l.t.Helper()
	var keys []string
	for len(keys) < n {
		if u := l.update(); u.New {
			keys = append(keys, short(client.Key(*u.Frame)))
		}
	}
	return keys
}

// short drops the ids' random parts: "agent.stream 3".
func short(key string) string {
	typ, rest, _ := strings.Cut(key, " ")
	if _, seq, ok := strings.Cut(rest, "/"); ok && typ == "agent.stream" {
		return typ + " " + seq
	}
	return typ
}

func wantNews(t *testing.T, l *listener, want ...string) {
	t.Helper()
	if got := l.news(len(want)); !slices.Equal(got, want) {
		t.Fatalf("news\n%q, want\n%q", got, want)
	}
}

// begin makes a conversation and a run in it without a frame.
func begin(h *testhub.Hub) (s client.Session, task client.AgentTask) {
	h.Change(func() {
		s = client.Session{ID: "sess_1", Name: "demo", UpdatedAt: time.Now()}
		h.Sessions = append(h.Sessions, s)
		task = client.AgentTask{ID: "run_1", SessionID: s.ID, AgentID: h.Agents[0].ID, State: client.RunStateRunning, TraceID: strings.Repeat("a", 32)}
		h.Tasks = append(h.Tasks, task)
	})
	return s, task
}

func say(h *testhub.Hub, task client.AgentTask, n int) {
	h.Append(task, "message.delta", "run.agent.text_delta", fmt.Sprintf(`{"message_id":"m1","delta":"%d"}`, n))
}

func TestARunThatWasUnderWayIsToldFromItsBeginning(t *testing.T) {
	h := testhub.New(t)
	_, task := begin(h)
	for n := range 5 {
		say(h, task, n)
	}
	l := listen(t, connect(t, h).Feed(&place{}, client.FeedOptions{Begin: client.BeginLive}))
	say(h, task, 6)
	wantNews(t, l, "agent.stream 1", "agent.stream 2", "agent.stream 3", "agent.stream 4", "agent.stream 5", "agent.stream 6")
}

func TestADeviceThatIsContinuedIsNotToldAgainWhatItSawBefore(t *testing.T) {
	h := testhub.New(t)
	_, task := begin(h)
	for n := range 5 {
		say(h, task, n)
	}
	l := listen(t, connect(t, h).Feed(&place{cursor: "c3"}, client.FeedOptions{Begin: client.BeginLive}))
	wantNews(t, l, "agent.stream 4", "agent.stream 5")
	say(h, task, 6)
	wantNews(t, l, "agent.stream 6")
}

func TestAfterACutNothingIsMissedAndNothingToldTwice(t *testing.T) {
	h := testhub.New(t)
	_, task := begin(h)
	at := &place{}
	l := listen(t, connect(t, h).Feed(at, client.FeedOptions{Begin: client.BeginLive}))
	say(h, task, 1)
	say(h, task, 2)
	wantNews(t, l, "agent.stream 1", "agent.stream 2")
	at.SaveCursor("c0") // what is kept is for the next start: a connection goes on behind what was handed on
	h.Cut()
	l.down()
	say(h, task, 3)
	l.up()
	for {
		u := l.update()
		if u.Frame == nil {
			continue
		}
		if key := short(client.Key(*u.Frame)); key != "agent.stream 3" || !u.New {
			t.Fatalf("%s, new %v", key, u.New)
		}
		return
	}
}

func TestAResetIsFilledFromTheRecord(t *testing.T) {
	h := testhub.New(t)
	s, task := begin(h)
	feed := connect(t, h).Feed(&place{}, client.FeedOptions{Begin: client.BeginLive})
	l := listen(t, feed)
	say(h, task, 1)
	h.Publish(client.HubWebSocketFrameTypeMessageNew, client.Message{ID: "msg_0", SessionID: s.ID, SeqID: 0})
	wantNews(t, l, "agent.stream 1", "message.new")
	feed.Track("run_unseen", s.ID)
	h.Change(func() {
		h.Reset = true
		h.Say(s.ID, "while you were away")
		h.Record(task, "run.completed", "run.finished", `{}`)
		h.End(task.ID, client.RunStateCompleted)
		h.Tasks = append(h.Tasks, client.AgentTask{ID: "run_unseen", SessionID: s.ID, State: client.RunStateFailed, Error: client.RunError{Code: "timeout"}})
	})
	h.Cut()
	l.down()
	l.up()
	wantNews(t, l, "message.new", "agent.stream 2", "agent.done", "agent.failed")
	if got := feed.Outcome(task.ID); got != client.HubWebSocketFrameTypeAgentDone {
		t.Errorf("outcome %q", got)
	}
}

func TestAFeedCanBeginInThePast(t *testing.T) {
	h := testhub.New(t)
	s, _ := begin(h)
	h.Change(func() {
		h.Say(s.ID, "old")
		h.Messages[s.ID][0].CreatedAt = time.Now().Add(-2 * time.Hour)
		h.Say(s.ID, "young")
	})
	l := listen(t, connect(t, h).Feed(&place{}, client.FeedOptions{Begin: client.BeginLive, Since: time.Now().Add(-time.Hour)}))
	u := l.update()
	var m client.Message
	if err := json.Unmarshal(u.Frame.Payload, &m); err != nil || !u.Asked || string(m.Content) != `{"text":"young"}` {
		t.Fatalf("update %+v, message %s", u, m.Content)
	}
}

func TestAFeedCanBeOfOneConversation(t *testing.T) {
	h := testhub.New(t)
	s, task := begin(h)
	l := listen(t, connect(t, h).Feed(&place{}, client.FeedOptions{Begin: client.BeginLive, Session: s.ID}))
	h.Publish(client.HubWebSocketFrameTypeMessageNew, client.Message{ID: "msg_9", SessionID: "sess_other"})
	say(h, task, 1)
	wantNews(t, l, "agent.stream 1")
}

func TestAConversationThatIsGoneLeavesNoHole(t *testing.T) {
	h := testhub.New(t)
	l := listen(t, connect(t, h).Feed(&place{}, client.FeedOptions{Begin: client.BeginLive}))
	h.Publish(client.HubWebSocketFrameTypeAgentStream, client.AgentStreamPayload{TaskID: "run_gone", EventSeq: 7, EventType: "x", Payload: "{}"})
	wantNews(t, l, "agent.stream 7")
}
