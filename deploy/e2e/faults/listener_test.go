package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// cardSocket is one connection on /v1/ws.
type cardSocket struct {
	*websocket.Conn
	trace id.Trace
}

// dialCards connects to the conversation and returns when the hub has opened it.
func (s *stage) dialCards(ctx context.Context) (*cardSocket, error) {
	login, err := s.device.Keeper.Load()
	if err != nil {
		return nil, err
	}
	address := "ws" + strings.TrimPrefix(s.HubURL(), "http") + "/v1/ws?session_id=" + s.session
	socket, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{ //nolint:bodyclose // Dial has closed it
		HTTPHeader: http.Header{"Authorization": {"Bearer " + login.AccessToken}},
	})
	if err != nil {
		return nil, err
	}
	socket.SetReadLimit(-1)
	c := &cardSocket{Conn: socket}
	e, raw, err := c.next(ctx)
	if err == nil && e.Envelope.TraceID == "" {
		err = fmt.Errorf("no trace is opened by %s", raw)
	}
	if err != nil {
		socket.CloseNow() //nolint:errcheck // it has failed
		return nil, err
	}
	c.trace = e.Envelope.TraceID
	return c, nil
}

func (c *cardSocket) next(ctx context.Context) (card.Event, string, error) {
	_, raw, err := c.Read(ctx)
	if err != nil {
		return card.Event{}, "", err
	}
	e, err := card.Decode(raw)
	return e, string(raw), err
}

// resume asks for what lies behind a number.
func (c *cardSocket) resume(ctx context.Context, last card.Seq) error {
	frame, err := card.EncodeFrame(card.SessionResume{TraceID: string(c.trace), LastSeq: int64(last)}, "") //nolint:gosec // far below the bound
	if err != nil {
		return err
	}
	return c.Write(ctx, websocket.MessageText, frame)
}

// reading is what a connection is told that asks for everything.
type reading struct {
	trace id.Trace
	asked map[string]string // the questions that came before everything else, by request
	lines []string
}

// read connects anew and reads the whole trace.
func (s *stage) read() (r reading) {
	s.t.Helper()
	s.Eventually("the trace is read", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), rig.Patience)
		defer cancel()
		var err error
		if r, err = s.readOnce(ctx); err != nil {
			s.t.Logf("read the trace: %v", err)
		}
		return err == nil
	})
	return r
}

func (s *stage) readOnce(ctx context.Context) (r reading, err error) {
	c, err := s.dialCards(ctx)
	if err != nil {
		return r, err
	}
	defer c.CloseNow() //nolint:errcheck // everything was read
	r = reading{trace: c.trace, asked: map[string]string{}}
	if err := c.resume(ctx, 0); err != nil {
		return r, err
	}
	head, resumed := card.Seq(0), false
	for !resumed || card.Seq(len(r.lines)) < head {
		e, raw, err := c.next(ctx)
		if err != nil {
			return r, err
		}
		switch {
		case e.Type == card.SessionEvent:
			head, resumed, err = resumedTo(e, head, resumed)
		case resumed && e.Envelope.Seq == card.Seq(len(r.lines)+1):
			r.lines = append(r.lines, raw)
		case resumed:
			err = fmt.Errorf("behind event %d comes %s", len(r.lines), raw)
		case e.Type == card.PromptUser:
			err = r.ask(e, raw)
		}
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// ask notes a question that is asked again.
func (r *reading) ask(e card.Event, raw string) error {
	var p card.PromptPayload
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return err
	}
	if r.asked[p.RequestID] != "" {
		return fmt.Errorf("%s is asked twice on one connection", p.RequestID)
	}
	r.asked[p.RequestID] = raw
	return nil
}

// resumedTo looks whether a session event says how far a resume goes.
func resumedTo(e card.Event, head card.Seq, resumed bool) (card.Seq, bool, error) {
	var p struct {
		Kind  card.SessionKind  `json:"kind"`
		Inner card.ResumedInner `json:"inner"`
	}
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return head, resumed, err
	}
	switch p.Kind {
	case card.Resumed:
		return p.Inner.ToSeq, true, nil
	case card.SessionError, card.ResumeFailed:
		return head, resumed, fmt.Errorf("the hub says %s", e.Payload)
	}
	return head, resumed, nil
}

// listener reads on and on, over as many connections as that takes, and keeps every event that it is told. Safe for concurrent use.
type listener struct {
	mu     sync.Mutex
	lines  map[card.Seq]string
	faults []string
	cuts   int
}

func (l *listener) listen(ctx context.Context, s *stage) {
	for ctx.Err() == nil {
		if l.once(ctx, s) {
			l.mu.Lock()
			l.cuts++
			l.mu.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond): // the hub may be away
		}
	}
}

// once reads until the connection ends, and says whether there was one.
func (l *listener) once(ctx context.Context, s *stage) bool {
	c, err := s.dialCards(ctx)
	if err != nil {
		return false
	}
	defer c.CloseNow() //nolint:errcheck // it has ended
	if err := c.resume(ctx, card.Seq(len(l.whole()))); err != nil {
		return true
	}
	for {
		e, raw, err := c.next(ctx)
		if err != nil {
			return true
		}
		if e.Envelope.Seq > 0 {
			l.note(e.Envelope.Seq, raw)
		}
	}
}

// note keeps an event. What comes again is the same.
func (l *listener) note(seq card.Seq, raw string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, known := l.lines[seq]; known && before != raw {
		l.faults = append(l.faults, fmt.Sprintf("event %d was\n%s\nand is\n%s", seq, before, raw))
	}
	l.lines[seq] = raw
}

// whole is the trace as far as it was told without a hole.
func (l *listener) whole() (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for seq := card.Seq(1); l.lines[seq] != ""; seq++ {
		lines = append(lines, l.lines[seq])
	}
	return lines
}

// account is how often it was cut off, and what was told in two ways.
func (l *listener) account() (cuts int, faults []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cuts, slices.Clone(l.faults)
}

// knows says whether it has so many events without a hole.
func (l *listener) knows(events int) bool { return len(l.whole()) >= events }
