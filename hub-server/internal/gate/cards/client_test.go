package cards

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/hub-server/apicontract"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// client is one connection.
type client struct {
	t      *testing.T
	socket *websocket.Conn
	raw    []byte // of the last frame
	had    []card.Event
	lines  []string // of what is numbered, as it came
}

// dial connects; query is what follows the path, with its question mark.
func (h *hub) dial(p person, query string) *client {
	h.town.t.Helper()
	socket, resp, err := websocket.Dial(context.Background(), "ws"+strings.TrimPrefix(h.server.URL, "http")+"/v1/ws"+query, &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + string(p.token)}, "Accept-Language": {"en"}},
	})
	if err != nil {
		h.town.t.Fatal(err, resp)
	}
	socket.SetReadLimit(-1)
	c := &client{t: h.town.t, socket: socket}
	h.town.t.Cleanup(func() { socket.CloseNow() })
	return c
}

// joined connects to a conversation and reads opened.
func (h *hub) joined(p person, s id.Session) *client {
	h.town.t.Helper()
	c := h.dial(p, "?session_id="+string(s))
	if e := c.next(); c.kind(e) != "opened" {
		h.town.t.Fatalf("first is %s", c.raw)
	}
	return c
}

func (c *client) say(frame string, args ...any) {
	c.t.Helper()
	c.write(websocket.MessageText, []byte(fmt.Sprintf(frame, args...)))
}

func (c *client) write(kind websocket.MessageType, data []byte) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if err := c.socket.Write(ctx, kind, data); err != nil {
		c.t.Fatal(err)
	}
}

var contract = sync.OnceValues(func() (*apicontract.Cards, error) { return apicontract.NewCards(context.Background()) })

// outsideContract says how a message of the hub differs from api/openapi.yaml.
func outsideContract(raw []byte) error {
	cards, err := contract()
	if err != nil {
		return err
	}
	return cards.Event(raw)
}

// wait is far beyond what anything takes here.
const wait = 30 * time.Second

func (c *client) tryNext() (card.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	_, raw, err := c.socket.Read(ctx)
	if err != nil {
		return card.Event{}, err
	}
	c.raw = raw
	if err := outsideContract(raw); err != nil {
		c.t.Errorf("%s: %v", raw, err)
	}
	e, err := card.Decode(raw)
	if err != nil {
		return e, err
	}
	if !strings.HasSuffix(string(raw), "\n") {
		c.t.Errorf("no end of the line in %s", raw)
	}
	if e.Envelope.Seq > 0 {
		c.lines = append(c.lines, string(raw))
	}
	c.had = append(c.had, e)
	return e, nil
}

func (c *client) next() card.Event {
	c.t.Helper()
	e, err := c.tryNext()
	if err != nil {
		c.t.Fatal(err)
	}
	return e
}

// until reads up to the first frame that is wanted.
func (c *client) until(what string, wanted func(card.Event) bool) card.Event {
	c.t.Helper()
	for {
		e, err := c.tryNext()
		if err != nil {
			c.t.Fatalf("waiting for %s: %v\n%s", what, err, c.raw)
		}
		if wanted(e) {
			return e
		}
	}
}

// kind is what a session event tells, of an error the code too; "" for all else.
func (c *client) kind(e card.Event) string {
	c.t.Helper()
	if e.Type != card.SessionEvent {
		return ""
	}
	var p card.SessionPayload
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		c.t.Fatal(err)
	}
	var inner struct {
		Error  card.ErrorInfo    `json:"error"`
		Reason card.ResumeReason `json:"reason"`
		From   card.Seq          `json:"from_seq"`
		To     card.Seq          `json:"to_seq"`
	}
	if err := json.Unmarshal(p.Inner, &inner); err != nil {
		c.t.Fatal(err)
	}
	switch p.Kind {
	case card.SessionError:
		return strings.TrimSpace("error " + string(inner.Error.Type) + " " + inner.Error.Code)
	case card.ResumeFailed:
		return "resume_failed " + string(inner.Reason)
	case card.Resumed:
		return fmt.Sprintf("resumed %d %d", inner.From, inner.To)
	}
	return string(p.Kind)
}

// told reads up to the next session event, and demands that it is this one.
func (c *client) told(want string) card.Event {
	c.t.Helper()
	e := c.until(want, func(e card.Event) bool { return e.Type == card.SessionEvent })
	if got := c.kind(e); got != want {
		c.t.Fatalf("told %s, want %s", c.raw, want)
	}
	return e
}

// ends reads until the connection ends and returns how.
func (c *client) ends() websocket.CloseError {
	c.t.Helper()
	for {
		_, err := c.tryNext()
		if err == nil {
			continue
		}
		var closed websocket.CloseError
		if !errors.As(err, &closed) {
			c.t.Fatalf("it ends with %v", err)
		}
		return closed
	}
}

// text reads until all that appends have said so far comes to a text.
func (c *client) text(want string) {
	c.t.Helper()
	for c.appended() != want {
		if _, err := c.tryNext(); err != nil {
			c.t.Fatalf("waiting for %q, had %q: %v", want, c.appended(), err)
		}
	}
}

func (c *client) appended() (all string) {
	for _, e := range c.had {
		var p card.AppendPayload
		if e.Type == card.Append && json.Unmarshal(e.Payload, &p) == nil {
			all += p.Chunk
		}
	}
	return all
}
