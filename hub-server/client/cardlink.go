package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// pingEvery is how often a client says that it is there (S0 §2.3). The answer shows that the hub is, too.
const pingEvery = 30 * time.Second

// cardLink is one connection of a CardFeed. It is used by one goroutine.
type cardLink struct {
	feed     *CardFeed
	yield    func(CardUpdate, error) bool
	stopped  bool // the caller has left the loop
	fruitful bool // it has brought an event that no connection had brought
	up       time.Time

	upTo     card.Seq // what the hub had when the first session.resume was answered
	answered bool     // it was
	caught   bool     // the forest has it all

	resuming bool     // a session.resume is not answered yet
	behind   card.Seq // where the forest was when the last gap was seen
	gaps     bool     // a gap was seen there
}

func (l *cardLink) emit(u CardUpdate) bool {
	l.stopped = !l.yield(u, nil)
	return !l.stopped
}

// once connects and hands on events until the connection ends; the error says why.
func (l *cardLink) once(ctx context.Context) error {
	f := l.feed
	socket, token, err := f.client.dial(ctx, "/v1/ws", f.refused)
	if err != nil {
		return err
	}
	defer socket.CloseNow() //nolint:errcheck // closed by the other side, or not needed any more
	socket.SetReadLimit(maxFrame)
	awake, cancel := context.WithCancelCause(ctx)
	events, parts := newAhead[card.Event](), supervise.NewGroup(awake)
	parts.Go(func(ctx context.Context) error {
		if noticeSleep(ctx, f.client.now) {
			cancel(errSlept)
		}
		return nil
	})
	parts.Go(func(ctx context.Context) error {
		events.fill(ctx, cardReader(socket))
		return nil
	})
	parts.Go(func(ctx context.Context) error { return keepPinging(ctx, socket) })
	f.out.connect(socket, parts)
	err = l.greet(ctx)
	if err == nil {
		err = l.follow(ctx, events)
	}
	f.out.disconnect()
	cancel(nil)
	err = errors.Join(err, parts.Wait())
	if websocket.CloseStatus(err) == closeLoggedOut {
		f.refused = token
	}
	return err
}

// cardReader reads the events of a socket. What no event can be made of breaks the connection: the next one brings it again.
func cardReader(socket *websocket.Conn) func(context.Context) (card.Event, int, error) {
	return func(ctx context.Context) (card.Event, int, error) {
		data, err := readText(ctx, socket, silence)
		if err != nil {
			return card.Event{}, 0, err
		}
		e, err := card.Decode(data)
		return e, len(data), err
	}
}

func keepPinging(ctx context.Context, socket *websocket.Conn) error {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := write(ctx, socket, card.Ping{}, ""); err != nil {
			return err
		}
	}
}

// greet chooses the conversation. One that is made is made once: the frame always has the same event_id.
func (l *cardLink) greet(ctx context.Context) error {
	f := l.feed
	return f.out.write(ctx, card.SessionCreate{
		SessionID: cmp.Or(string(f.forest.session.ID), f.options.Session), AgentID: f.options.Agent, Tools: f.declared(),
		Capabilities: card.Capabilities{ClientTools: len(f.options.Tools) > 0},
	}, f.create)
}

// declared are the tools of this client as they are told to the hub.
func (f *CardFeed) declared() []card.ClientTool {
	if f.options.Tools == nil {
		return nil
	}
	all := make([]card.ClientTool, len(f.options.Tools))
	for i, tool := range f.options.Tools {
		all[i] = tool.ClientTool
	}
	return all
}

func (l *cardLink) follow(ctx context.Context, events *ahead[card.Event]) error {
	for {
		got, err := events.next(ctx)
		if err != nil {
			return err
		}
		if got.frame.Type == card.PongType {
			continue
		}
		if err := l.take(ctx, &got.frame); err != nil || l.stopped {
			return err
		}
	}
}

// take applies an event, hands it on, and does what it asks for.
func (l *cardLink) take(ctx context.Context, e *card.Event) error {
	f := l.feed
	u := CardUpdate{Event: e, Verdict: f.forest.Apply(*e)}
	if e.Type == card.SessionEvent {
		return l.session(ctx, e, u)
	}
	l.fruitful = l.fruitful || u.Verdict == Applied
	if u.Verdict == Missed && !l.resuming {
		if err := l.fill(ctx); err != nil {
			return err
		}
	}
	err := l.serve(ctx, e)
	if u.Verdict != Repeated && (u.Verdict != Missed || e.Type == card.PromptUser) {
		l.emit(u)
	}
	return err
}

// serve has the calls carried out that are made to this client. What has happened before is told first: most of it is over.
func (l *cardLink) serve(ctx context.Context, e *card.Event) error {
	f := l.feed
	if l.caught {
		if e.Envelope.CardKind == card.Tool {
			f.calls.look(ctx, f.forest.cards[e.Envelope.CardID])
		}
		return nil
	}
	if l.caught = l.answered && f.forest.last >= l.upTo; !l.caught {
		return nil
	}
	return f.calls.again(ctx, f.forest)
}

// fill asks for what is missing. A hub that has answered and still leaves the same gap is asked over another connection.
func (l *cardLink) fill(ctx context.Context) error {
	at := l.feed.forest.last
	if l.gaps && at == l.behind {
		return fmt.Errorf("event %d of the trace is missing", at+1)
	}
	l.gaps, l.behind = true, at
	return l.resume(ctx)
}

func (l *cardLink) resume(ctx context.Context) error {
	l.resuming = true
	f := l.feed.forest
	return l.feed.out.write(ctx, card.SessionResume{
		TraceID: string(f.trace), LastSeq: int64(f.last), MessageCursors: f.Cursors(), //nolint:gosec // far below the bound
	}, "")
}

// session takes an event about the session.
func (l *cardLink) session(ctx context.Context, e *card.Event, u CardUpdate) error {
	if u.Verdict == Ignored {
		l.emit(u)
		return nil
	}
	kind, info := sessionKind(e)
	switch kind {
	case card.Opened:
		return l.opened(ctx, u)
	case card.Resumed, card.ResumeFailed:
		l.resuming = false
		l.resumed(e)
	case card.SessionError:
		if l.up.IsZero() || l.resuming && info.Details["type"] == "session.resume" {
			return &cardRefusal{*info}
		}
		u.Failed = l.feed.out.failed(*info)
	}
	err := l.serve(ctx, e)
	l.emit(u)
	return err
}

// resumed notes how far the trace went when the hub was asked for it; of one that cannot be had there is nothing to wait for.
func (l *cardLink) resumed(e *card.Event) {
	if l.answered {
		return
	}
	var p struct {
		Inner card.ResumedInner `json:"inner"`
	}
	if json.Unmarshal(e.Payload, &p) == nil {
		l.upTo = p.Inner.ToSeq
	}
	l.answered = true
}

// opened asks for what was missed, sends what is due, and tells that the link is up.
func (l *cardLink) opened(ctx context.Context, u CardUpdate) error {
	u.Link, l.up = LinkUp, time.Now()
	if l.feed.forest.trace != "" {
		if err := l.resume(ctx); err != nil {
			return err
		}
	}
	if err := l.feed.out.again(ctx); err != nil {
		return err
	}
	l.feed.client.tokens.settle(ctx)
	l.emit(u)
	return nil
}

// cardRefusal is an error of the hub without which nothing can be followed.
type cardRefusal struct{ info card.ErrorInfo }

func (e *cardRefusal) Error() string { return fmt.Sprintf("%s (%s)", e.info.Message, e.info.Type) }

// Is makes the refusal of what cannot be tried again the end of a feed.
func (e *cardRefusal) Is(target error) bool { return target == ErrNoCards && !e.info.Retryable }
