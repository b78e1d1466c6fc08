package testhub

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// cardLog is the trace of a conversation: what was told, and by whom it is told on.
type cardLog struct {
	trace  *card.Trace
	events []card.Event
}

// cardsOf is the trace of a conversation. Call it inside Change.
func (h *Hub) cardsOf(session client.SessionID) *cardLog {
	if h.cards[session] == nil {
		h.cards[session] = &cardLog{trace: &card.Trace{ID: id.NewTrace(), Session: id.Session(session), Language: card.English}}
	}
	return h.cards[session]
}

// Deal tells cards of a conversation: what fn makes at a time, as one run does. Events of one call are told together.
func (h *Hub) Deal(session client.SessionID, at time.Time, fn func(card.Builder) []card.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	log := h.cardsOf(session)
	log.events = append(log.events, fn(log.trace.At(at, "run_9f2c1b7ad0e44c55"))...)
	close(h.changed)
	h.changed = make(chan struct{})
}

// cardSocket is a connection of /v1/ws.
type cardSocket struct {
	hub     *Hub
	socket  *websocket.Conn
	session client.SessionID
	at      int // how many events it has
	frames  chan card.ReceivedFrame
}

func (h *Hub) serveCards(w http.ResponseWriter, r *http.Request) {
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer socket.CloseNow() //nolint:errcheck // the client closes it, or nobody
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s := &cardSocket{hub: h, socket: socket, frames: make(chan card.ReceivedFrame)}
	h.Change(func() { h.sockets++ })
	defer h.Change(func() { h.sockets-- })
	var reading sync.WaitGroup
	reading.Go(func() {
		defer cancel()
		s.read(ctx)
	})
	s.run(ctx)
	cancel()
	reading.Wait()
}

func (s *cardSocket) read(ctx context.Context) {
	for {
		_, text, err := s.socket.Read(ctx)
		if err != nil {
			return
		}
		got, err := card.ReadFrame(text)
		if err != nil {
			return
		}
		select {
		case s.frames <- got:
		case <-ctx.Done():
			return
		}
	}
}

// run answers what the client says, and tells what happens.
func (s *cardSocket) run(ctx context.Context) {
	s.hub.mu.Lock()
	cut := s.hub.cut
	s.hub.mu.Unlock()
	for live := false; ; {
		s.hub.mu.Lock()
		changed := s.hub.changed
		var events []card.Event
		if live {
			events = s.hub.cardsOf(s.session).events[s.at:]
		}
		over := s.hub.cut != cut
		s.hub.mu.Unlock()
		s.at += len(events)
		if over || s.send(ctx, events...) != nil {
			return
		}
		select {
		case got := <-s.frames:
			if s.take(ctx, got) != nil {
				return
			}
			_, resumes := got.Frame.(card.SessionResume)
			live = live || resumes
		case <-changed:
		case <-cut:
			return
		case <-ctx.Done():
			return
		}
	}
}

// take answers a frame. This hub knows those that a reader sends.
func (s *cardSocket) take(ctx context.Context, got card.ReceivedFrame) error {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	switch f := got.Frame.(type) {
	case card.SessionCreate:
		s.session = f.SessionID
		if f.Tools != nil {
			s.hub.Tools = f.Tools
		}
		opening := s.opening()
		return s.send(ctx, append([]card.Event{opening.Tell(time.Now(), card.Opened, card.OpenedInner{
			ProtocolVersion: card.ProtocolVersion, Capabilities: card.Capabilities{Recovery: true},
		})}, s.hub.cardsOf(s.session).waiting()...)...)
	case card.ToolResult:
		s.hub.cardsOf(s.session).returned(f)
		close(s.hub.changed)
		s.hub.changed = make(chan struct{})
	case card.SessionResume:
		log := s.hub.cardsOf(s.session)
		if s.hub.Reset {
			s.at = len(log.events)
			return s.send(ctx, s.opening().Tell(time.Now(), card.ResumeFailed, card.ResumeFailedInner{TraceID: f.TraceID, Reason: card.EventsExpired}))
		}
		s.at = int(f.LastSeq)
		return s.send(ctx, s.opening().Tell(time.Now(), card.Resumed, card.ResumedInner{
			TraceID: f.TraceID, FromSeq: card.Seq(s.at) + 1, ToSeq: card.Seq(len(log.events)), //nolint:gosec // small
		}))
	}
	return nil
}

func (s *cardSocket) opening() card.Opening {
	return card.Opening{Session: id.Session(s.session), Trace: s.hub.cardsOf(s.session).trace.ID}
}

// returned ends a call with what the client says.
func (l *cardLog) returned(f card.ToolResult) {
	end := card.End{Status: card.Status(f.Status), Error: f.Error}
	if len(f.Output) > 0 {
		end.Inner = card.ToolPayload{Output: string(f.Output)}
	}
	l.events = append(l.events, l.trace.At(time.Now().Add(time.Hour), "run_9f2c1b7ad0e44c55").Close(card.Ref{ID: f.ToolUseID, Kind: card.Tool}, end))
}

// waiting are the questions that nobody has answered, in the bytes in which they were asked.
func (l *cardLog) waiting() []card.Event {
	var asked []card.Event
	answered := map[string]bool{}
	for _, e := range l.events {
		var p struct {
			RequestID string `json:"request_id"`
		}
		if e.Type == card.PromptReply && json.Unmarshal(e.Payload, &p) == nil {
			answered[p.RequestID] = true
		}
	}
	for _, e := range l.events {
		var p card.PromptPayload
		if e.Type == card.PromptUser && json.Unmarshal(e.Payload, &p) == nil && !answered[p.RequestID] {
			asked = append(asked, e)
		}
	}
	return asked
}

func (s *cardSocket) send(ctx context.Context, events ...card.Event) error {
	for _, e := range events {
		line, err := e.Encode()
		if err != nil {
			return err
		}
		if err := s.socket.Write(ctx, websocket.MessageText, line); err != nil {
			return err
		}
	}
	return nil
}
