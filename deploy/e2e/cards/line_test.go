package cards

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// line is one connection to /v1/ws. What is said on it goes into a script, and what the hub says into the forest of a client that keeps it when it
// connects again.
type line struct {
	s       *stage
	socket  *websocket.Conn
	script  *script
	forest  *client.CardForest
	agent   string // who answers
	session id.Session
	trace   id.Trace
}

func (s *stage) dial(to *script, forest *client.CardForest) *line {
	s.t.Helper()
	return s.dialAs(s.Owner(), to, forest)
}

// dialAs is dial for another device.
func (s *stage) dialAs(of *rig.Device, to *script, forest *client.CardForest) *line {
	s.t.Helper()
	credentials, err := of.Keeper.Load()
	if err != nil {
		s.t.Fatal(err)
	}
	socket, _, err := websocket.Dial(s.t.Context(), strings.Replace(s.HubURL(), "http", "ws", 1)+"/v1/ws", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + credentials.AccessToken}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	socket.SetReadLimit(-1)
	s.t.Cleanup(func() { socket.CloseNow() })
	return &line{s: s, socket: socket, script: to, forest: forest}
}

// say sends a frame.
func (l *line) say(frame card.ClientFrame, eventID string) {
	l.s.t.Helper()
	raw, err := card.EncodeFrame(frame, eventID)
	if err != nil {
		l.s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(l.s.t.Context(), rig.Patience)
	defer cancel()
	if err := l.socket.Write(ctx, websocket.MessageText, raw); err != nil {
		l.s.t.Fatal(err)
	}
	l.script.said(raw)
}

// hear returns what the hub says next.
func (l *line) hear() card.Event {
	l.s.t.Helper()
	ctx, cancel := context.WithTimeout(l.s.t.Context(), rig.Patience)
	defer cancel()
	_, raw, err := l.socket.Read(ctx)
	if err != nil {
		l.s.t.Fatalf("%v, after\n%s", err, l.script.text())
	}
	e, err := card.Decode(raw)
	if err != nil {
		l.s.t.Fatal(err)
	}
	if e.Type != card.PongType {
		l.script.heard(raw, e)
		l.forest.Apply(e)
	}
	return e
}

// until hears up to the first event that has a text in its payload.
func (l *line) until(text string) card.Event {
	l.s.t.Helper()
	for {
		e := l.event()
		if bytes.Contains(e.Payload, []byte(text)) {
			return e
		}
		if l.over(e) {
			l.s.t.Fatalf("it is over without %s:\n%s", text, l.script.text())
		}
	}
}

// over says that an event is the last of a turn.
func (l *line) over(e card.Event) bool {
	return e.Type == card.Close && e.Envelope.CardKind == card.Turn
}

// end hears up to the end of the turn.
func (l *line) end() {
	l.s.t.Helper()
	for !l.over(l.event()) {
	}
}

// event hears what happens. An error is nothing that does.
func (l *line) event() card.Event {
	l.s.t.Helper()
	e := l.hear()
	if e.Type == card.SessionEvent {
		l.s.t.Fatalf("nobody waits for what is told last:\n%s", l.script.text())
	}
	return e
}

// ping returns what the hub has said before it answers.
func (l *line) ping() (before []card.Event) {
	l.s.t.Helper()
	ctx, cancel := context.WithTimeout(l.s.t.Context(), rig.Patience)
	defer cancel()
	if err := l.socket.Write(ctx, websocket.MessageText, []byte(`{"type":"ping"}`)); err != nil {
		l.s.t.Fatal(err)
	}
	for {
		e := l.hear()
		if e.Type == card.PongType {
			return before
		}
		before = append(before, e)
	}
}

// nothing checks that the hub has no more to say for now.
func (l *line) nothing() {
	l.s.t.Helper()
	if before := l.ping(); len(before) > 0 {
		l.s.t.Errorf("more was said:\n%s", l.script.text())
	}
}

// lost waits until the connection breaks, and notes why. Nothing more may be said on it.
func (l *line) lost(why string) {
	l.s.t.Helper()
	ctx, cancel := context.WithTimeout(l.s.t.Context(), rig.Patience)
	defer cancel()
	if _, raw, err := l.socket.Read(ctx); err == nil {
		l.s.t.Fatalf("before it broke it said %s", raw)
	}
	l.script.note(why)
}

// hangUp ends the connection.
func (l *line) hangUp() {
	l.s.t.Helper()
	if err := l.socket.Close(websocket.StatusNormalClosure, ""); err != nil {
		l.s.t.Error(err)
	}
}

// told reads what a session event says. It must be of that kind.
func (l *line) told(kind card.SessionKind) card.Event {
	l.s.t.Helper()
	e := l.hear()
	var p struct {
		Kind card.SessionKind `json:"kind"`
	}
	if err := json.Unmarshal(e.Payload, &p); err != nil || e.Type != card.SessionEvent || p.Kind != kind {
		l.s.t.Fatalf("it is no %s, after\n%s", kind, l.script.text())
	}
	return e
}

// opened hears that the conversation is open.
func (l *line) opened() {
	l.s.t.Helper()
	e := l.told(card.Opened)
	l.session, l.trace = e.Envelope.SessionID, e.Envelope.TraceID
}

// again is another connection of the same client, which has opened the same conversation. What is asked there is asked first of all.
func (l *line) again(questions int) *line {
	l.s.t.Helper()
	next := l.s.dial(l.script, l.forest)
	next.agent = l.agent
	next.say(card.SessionCreate{SessionID: string(l.session)}, "")
	next.opened()
	if next.session != l.session || next.trace != l.trace {
		l.s.t.Errorf("%s %s has become %s %s", l.session, l.trace, next.session, next.trace)
	}
	for range questions {
		if e := next.hear(); e.Type != card.PromptUser {
			l.s.t.Fatalf("no question is asked again, after\n%s", l.script.text())
		}
	}
	return next
}

// resume goes on where the client was.
func (l *line) resume() {
	l.s.t.Helper()
	l.say(card.SessionResume{TraceID: string(l.trace), LastSeq: l.script.last()}, "")
	l.told(card.Resumed)
}
