package tui

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cardtree"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/testhub"
	"github.com/switchyard-dev/switchyard/shared/card"
)

// paper is what a screen writes to.
type paper struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *paper) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(data)
}

func (p *paper) has(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(p.text.String(), text)
}

// cardTable is a screen of cards that runs.
type cardTable struct {
	t     *testing.T
	hub   *testhub.Hub
	at    client.SessionID
	paper *paper
	keys  *io.PipeWriter
	stop  context.CancelFunc
	ended chan error
}

func newCardTable(t *testing.T) *cardTable {
	t.Helper()
	h, session := town(t)
	c, err := client.New(client.Options{Hub: h.URL, Keeper: client.NewMemoryKeeper(client.Credentials{
		AccessToken: "access x", RefreshToken: "refresh x", ExpiresAt: time.Now().Add(time.Hour),
	})})
	if err != nil {
		t.Fatal(err)
	}
	in, keys := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	b := &cardTable{t: t, hub: h, at: session, paper: &paper{}, keys: keys, stop: stop, ended: make(chan error, 1)}
	var work sync.WaitGroup
	work.Go(func() {
		b.ended <- Cards(ctx, CardOptions{
			Feed: c.Cards(client.CardOptions{Session: session, Attempts: -1}), Name: "demo", In: in, Out: b.paper, size: [2]int{80, 24},
		})
	})
	t.Cleanup(func() {
		stop()
		keys.Close()
		work.Wait()
	})
	return b
}

func (b *cardTable) deal(fn func(card.Builder) []card.Event) {
	b.hub.Deal(b.at, time.Now(), fn)
}

// mustShow waits until something was drawn.
func (b *cardTable) mustShow(text string) {
	b.t.Helper()
	for deadline := time.Now().Add(time.Minute); !b.paper.has(text); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatalf("%q was never drawn:\n%q", text, b.paper.text.String())
		}
	}
}

func (b *cardTable) mustEnd() {
	b.t.Helper()
	select {
	case err := <-b.ended:
		if err != nil {
			b.t.Error(err)
		}
	case <-time.After(time.Minute):
		b.t.Fatal("the screen goes on")
	}
}

var (
	aTurn    = card.Ref{ID: "turn_1", Kind: card.Turn}
	aMessage = card.Ref{ID: "msg_1", Kind: card.Message, Parent: "turn_1"}
)

func words(text string) func(card.Builder) []card.Event {
	return func(b card.Builder) []card.Event { return []card.Event{b.Append(aMessage, card.TextChannel, 0, text)} }
}

func TestCardsAreDrawnWhileTheyCome(t *testing.T) {
	b := newCardTable(t)
	b.mustShow("no cards yet")
	b.deal(func(b card.Builder) []card.Event {
		return []card.Event{b.Add(aTurn, card.TurnPayload{TurnNo: 1}, nil), b.Add(aMessage, card.MessagePayload{}, nil)}
	})
	b.mustShow("Message")
	b.deal(words("Good"))
	b.mustShow("Good")
	b.hub.Cut()
	b.mustShow("connection lost; trying again")
	b.deal(words("Bye"))
	b.mustShow("Bye")
	b.deal(func(b card.Builder) []card.Event {
		return []card.Event{b.Close(aMessage, card.End{Status: card.OK}), b.Close(aTurn, card.End{Status: card.Failed, Error: &card.ErrorInfo{Type: card.Internal}})}
	})
	b.mustShow("failed")
	if _, err := b.keys.Write([]byte("q")); err != nil {
		t.Fatal(err)
	}
	b.mustEnd()
	written := b.paper.text.String()
	if at := strings.LastIndex(written, "\x1b[?1049l"); at < 0 || !strings.Contains(written[at:], "GoodBye") {
		t.Errorf("the newest turn is not left behind:\n%q", written[max(0, len(written)-600):])
	}
}

func TestAScreenOfCardsEndsWithItsContext(t *testing.T) {
	b := newCardTable(t)
	b.mustShow("live")
	b.stop()
	b.mustEnd()
}

func TestManyEventsAreDrawnOnceInAFrame(t *testing.T) {
	s := &cardShell{window: cardtree.NewWindow("demo", screen.Style{}, time.Now)}
	s.Update(tea.WindowSizeMsg{Width: 60, Height: 8})
	s.View()
	trace := &card.Trace{ID: "tr_0123456789abcdef01234567", Session: "sess_1", Language: card.English}
	draw := func(n int) (drawn bool) {
		e := trace.At(time.Now(), "run_1").Add(card.Ref{ID: "turn_" + string(rune('a'+n)), Kind: card.Turn}, card.TurnPayload{TurnNo: n}, nil)
		before := s.View().Content
		_, cmd := s.Update(client.CardUpdate{Event: &e, Verdict: client.Applied})
		if drawn = s.View().Content != before; drawn && cmd == nil {
			t.Error("nothing ends the frame")
		}
		return drawn
	}
	if !draw(1) || draw(2) || draw(3) {
		t.Error("what comes within a frame is drawn at once")
	}
	s.Update(drawn{})
	if got := s.View().Content; !strings.Contains(got, "Turn 3") {
		t.Errorf("after the frame:\n%s", got)
	}
	if !draw(4) {
		t.Error("the next frame does not begin")
	}
}
