package client

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

const (
	sendWithin = 15 * time.Second // one write
	maxSent    = 64               // frames that are remembered, in case the hub does not take them
)

// Send says something in the conversation: a card.UserMessage, an answer, an interrupt. It returns the event_id of the frame, which is eventID
// or, where that is "", a fresh one. ErrNoStream: the feed is not connected, nothing was sent. A frame that the hub cannot take for the moment is
// sent again by itself, as CardFailure tells. Whether a frame has arrived that was sent before the link went down, nobody knows: send it again
// with its event_id, and it counts once.
func (f *CardFeed) Send(frame card.ClientFrame, eventID string) (string, error) {
	if eventID == "" {
		eventID = string(id.NewEvent())
	}
	// The end of a write breaks the connection, so it is no caller's to end.
	return eventID, f.out.send(context.Background(), frame, eventID)
}

// outgoing writes to the connection that there is. Safe for concurrent use.
type outgoing struct {
	mu     sync.Mutex
	socket *websocket.Conn // nil while there is none
	parts  *supervise.Group
	sent   []*sentFrame // the oldest first
}

// sentFrame is a frame that the hub may still refuse.
type sentFrame struct {
	frame    card.ClientFrame
	eventID  string
	failures int // in a row
	due      bool
}

func (o *outgoing) connect(socket *websocket.Conn, parts *supervise.Group) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.socket, o.parts = socket, parts
}

func (o *outgoing) disconnect() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.socket, o.parts = nil, nil
}

func (o *outgoing) send(ctx context.Context, frame card.ClientFrame, eventID string) error {
	o.remember(&sentFrame{frame: frame, eventID: eventID})
	return o.write(ctx, frame, eventID)
}

func (o *outgoing) remember(s *sentFrame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = append(o.sent, s)
	if len(o.sent) > maxSent {
		o.sent = o.sent[1:]
	}
}

func (o *outgoing) write(ctx context.Context, frame card.ClientFrame, eventID string) error {
	o.mu.Lock()
	socket := o.socket
	o.mu.Unlock()
	if socket == nil {
		return ErrNoStream
	}
	return write(ctx, socket, frame, eventID)
}

// write sends a frame. The end of ctx breaks the connection.
func write(ctx context.Context, socket *websocket.Conn, frame card.ClientFrame, eventID string) error {
	line, err := card.EncodeFrame(frame, eventID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	if err := socket.Write(ctx, websocket.MessageText, line); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// failed notes that the hub has refused a frame, and sends it again when the time for that has come (S0 §15).
func (o *outgoing) failed(info card.ErrorInfo) *CardFailure {
	eventID, _ := info.Details["event_id"].(string)
	told := &CardFailure{EventID: eventID, Error: info}
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.find(eventID)
	if s == nil || o.parts == nil {
		return told
	}
	s.failures++
	var wait time.Duration
	if wait, told.Again = CardRetry(info, s.failures); !told.Again {
		return told
	}
	s.due = true
	o.parts.Go(func(ctx context.Context) error {
		if err := pause(ctx, wait); err != nil {
			return err // the connection is over; the next one sends it
		}
		return o.repeat(ctx, s)
	})
	return told
}

// find returns the newest frame of an event_id; nil if there is none.
func (o *outgoing) find(eventID string) *sentFrame {
	for i := len(o.sent) - 1; i >= 0; i-- {
		if o.sent[i].eventID == eventID {
			return o.sent[i]
		}
	}
	return nil
}

// repeat sends a frame that is due, once.
func (o *outgoing) repeat(ctx context.Context, s *sentFrame) error {
	o.mu.Lock()
	due := s.due
	s.due = false
	o.mu.Unlock()
	if !due {
		return nil
	}
	return o.write(ctx, s.frame, s.eventID)
}

// again sends what was due when the connection before ended.
func (o *outgoing) again(ctx context.Context) error {
	o.mu.Lock()
	sent := slices.Clone(o.sent)
	o.mu.Unlock()
	for _, s := range sent {
		if err := o.repeat(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// sessionKind says what a session event tells, and the error of one that tells an error.
func sessionKind(e *card.Event) (card.SessionKind, *card.ErrorInfo) {
	var p struct {
		Kind  card.SessionKind `json:"kind"`
		Inner card.ErrorInner  `json:"inner"`
	}
	if json.Unmarshal(e.Payload, &p) != nil {
		return p.Kind, &card.ErrorInfo{}
	}
	return p.Kind, &p.Inner.Error
}
