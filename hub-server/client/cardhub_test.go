package client

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
)

// cardHub is the far end of /v1/ws.
type cardHub struct {
	*fakeHub
	trace *card.Trace
}

// inBubble runs a test in fake time, with a hub that is talked to over pipes.
func inBubble(t *testing.T, test func(t *testing.T, h *cardHub)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &cardHub{fakeHub: newPipeHub(t), trace: &card.Trace{ID: testTrace, Session: "sess_1"}}
		h.said = make(chan string, 64)
		test(t, h)
	})
}

// heard is the next frame of the client, of which event ids are cut off.
func (h *cardHub) heard() string {
	h.t.Helper()
	got, err := card.ReadFrame([]byte(<-h.said))
	if err != nil {
		h.t.Errorf("the client sent %+v, %v", got, err)
	}
	return fmt.Sprintf("%s %+v", got.Type, got.Frame)
}

func (h *cardHub) expect(frames ...string) {
	h.t.Helper()
	for _, want := range frames {
		if got := h.heard(); !strings.HasPrefix(got, want) {
			h.t.Errorf("the client sent %s, want %s", got, want)
		}
	}
}

// accept is a connection whose conversation is open and of which the client asks from behind last.
func (h *cardHub) accept(last int) *farEnd {
	h.t.Helper()
	hub := <-h.sockets
	h.expect("session.create")
	hub.tell(card.Opened, card.OpenedInner{ProtocolVersion: card.ProtocolVersion, Capabilities: card.Capabilities{Recovery: true}})
	h.expect(fmt.Sprintf("session.resume {TraceID:%s LastSeq:%d ", testTrace, last))
	return hub
}

func (e *farEnd) event(event card.Event) {
	e.t.Helper()
	line, err := event.Encode()
	if err != nil {
		e.t.Error(err)
	}
	e.sendRaw(line)
}

func (e *farEnd) tell(kind card.SessionKind, inner any) {
	e.t.Helper()
	e.event(card.Opening{Session: "sess_1", Trace: testTrace}.Tell(time.Now(), kind, inner))
}

func (e *farEnd) refuse(info card.ErrorInfo, about map[string]any) {
	e.t.Helper()
	info.Details = about
	e.tell(card.SessionError, card.ErrorInner{Error: info})
}

func (h *cardHub) main() card.Builder { return h.trace.At(time.Now(), "run_0123456789abcdef") }

var bubble = card.Ref{ID: "msg_1", Kind: card.Message}

func (h *cardHub) text(text string) card.Event {
	return h.main().Append(bubble, card.TextChannel, 0, text)
}

// cardFollower pulls updates one by one.
type cardFollower struct {
	t    testing.TB
	feed *CardFeed
	next func() (CardUpdate, error, bool)
}

func (h *cardHub) follow(options CardOptions) *cardFollower {
	h.t.Helper()
	c, _ := h.client(time.Hour)
	feed := c.Cards(options)
	ctx, cancel := context.WithCancel(context.Background())
	next, stop := iter.Pull2(feed.Follow(ctx))
	h.t.Cleanup(func() { cancel(); stop() })
	return &cardFollower{t: h.t, feed: feed, next: next}
}

func (f *cardFollower) update() CardUpdate {
	f.t.Helper()
	u, err, ok := f.next()
	if err != nil || !ok {
		f.t.Fatalf("the feed has ended: %v", err)
	}
	return u
}

// event wants the next update to be an event: its type, and for a session event what it tells.
func (f *cardFollower) event(want string) CardUpdate {
	f.t.Helper()
	u := f.update()
	if u.Event == nil {
		f.t.Fatalf("got %+v, want %s", u, want)
	}
	got := string(u.Event.Type)
	if u.Event.Type == card.SessionEvent {
		kind, _ := sessionKind(u.Event)
		got = string(kind)
	}
	if got != want {
		f.t.Fatalf("got %s, want %s", got, want)
	}
	return u
}

func (f *cardFollower) down() error {
	f.t.Helper()
	u := f.update()
	if u.Link != LinkDown || u.Err == nil {
		f.t.Fatalf("got %+v, want the link to be down", u)
	}
	return u.Err
}

func (f *cardFollower) end() error {
	f.t.Helper()
	u, err, ok := f.next()
	if !ok || err == nil {
		f.t.Fatalf("got %+v, want the end", u)
	}
	return err
}

func (f *cardFollower) text(want string) {
	f.t.Helper()
	if got := f.feed.Forest().Card("msg_1").Text(card.TextChannel); got != want {
		f.t.Errorf("the text is %q, want %q", got, want)
	}
}
