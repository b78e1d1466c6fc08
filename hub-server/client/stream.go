package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"
)

const (
	maxFrame     = 4 << 20          // bytes
	heartbeat    = 45 * time.Second // without a word from the hub a connection counts as dead
	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 10 * time.Second
)

// ErrKicked ends a stream for good: the same device connected elsewhere (device.kicked).
var ErrKicked = errors.New("this device has connected from somewhere else")

// Position is where a device stands in the hub's order of frames. Keep it and come back with it.
type Position interface {
	// LoadCursor returns the newest cursor, or "".
	LoadCursor() (string, error)
	// SaveCursor replaces it. It is called before the frames up to the cursor are handed on.
	SaveCursor(cursor string) error
}

// Event is one thing that a stream tells: a frame, or a change of the connection.
type Event struct {
	Frame *HubWebSocketFrame // nil for a change of the connection
	Link  Link
	Err   error // why the link is down
}

// Link is the state of the connection under a stream.
type Link string

// States of a link.
const (
	LinkUp   Link = "up"   // Frame is its auth.ok
	LinkDown Link = "down" // Err says why; the stream connects again by itself
)

// Stream follows /client/ws for as long as the caller iterates. It reconnects by itself and resumes by cursor, so that every frame of
// the outbox is seen at least once, in order; a `reset` in an auth.ok says that a snapshot by REST is needed. It ends with an error
// when that is no use: ErrLoggedOut, ErrKicked, a position that cannot be kept, or the end of ctx.
//
// The rules of S3: a frame with a seq_id that is not the next one on its connection means loss, so the connection is made anew; frames
// are applied by business key, never by seq_id.
func (c *Client) Stream(ctx context.Context, at Position) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := &stream{client: c, position: at, yield: yield}
		for backoff := firstBackoff; ; {
			err := s.once(ctx)
			if s.stopped {
				return
			}
			if fatal(ctx, err) {
				yield(Event{}, err)
				return
			}
			if s.heard {
				backoff = firstBackoff
			}
			if !s.emit(Event{Link: LinkDown, Err: err}) || !pause(ctx, backoff) {
				return
			}
			backoff = min(backoff*2, lastBackoff)
		}
	}
}

func fatal(ctx context.Context, err error) bool {
	var position *positionError
	return ctx.Err() != nil || errors.Is(err, ErrLoggedOut) || errors.Is(err, ErrKicked) || errors.As(err, &position)
}

// pause waits for d ± a quarter, so that many clients do not come back at once.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d*3/4 + rand.N(d/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// stream is one call of Stream. It is used by one goroutine.
type stream struct {
	client   *Client
	position Position
	yield    func(Event, error) bool
	stopped  bool // the caller has left the loop
	heard    bool // the present connection has brought at least one frame
}

func (s *stream) emit(e Event) bool {
	s.stopped = !s.yield(e, nil)
	return !s.stopped
}

// once connects and hands on frames until the connection ends; the error says why.
func (s *stream) once(ctx context.Context) error {
	s.heard = false
	socket, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer socket.CloseNow() //nolint:errcheck // closed by the other side, or not needed any more
	socket.SetReadLimit(maxFrame)
	for next := int64(1); ; next++ {
		frame, err := read(ctx, socket)
		if err != nil {
			return err
		}
		if frame.SeqID != next {
			return fmt.Errorf("lost a frame: got number %d, want %d", frame.SeqID, next)
		}
		if err := s.take(frame); err != nil || s.stopped {
			return err
		}
	}
}

// take keeps the cursor first and hands the frame on then.
func (s *stream) take(frame *HubWebSocketFrame) error {
	if frame.Cursor != "" {
		if err := s.position.SaveCursor(frame.Cursor); err != nil {
			return &positionError{err}
		}
	}
	e := Event{Frame: frame}
	if !s.heard && frame.Type == HubWebSocketFrameTypeAuthOk {
		e.Link = LinkUp
	}
	s.heard = true
	s.emit(e)
	if frame.Type == HubWebSocketFrameTypeDeviceKicked {
		return ErrKicked
	}
	return nil
}

func (s *stream) dial(ctx context.Context) (*websocket.Conn, error) {
	cursor, err := s.position.LoadCursor()
	if err != nil {
		return nil, &positionError{err}
	}
	token, err := s.client.tokens.token(ctx, "")
	if err != nil {
		return nil, err
	}
	socket, resp, err := s.open(ctx, token, cursor)
	if resp != nil && resp.StatusCode == http.StatusUnauthorized {
		if token, err = s.client.tokens.token(ctx, token); err != nil {
			return nil, err
		}
		socket, _, err = s.open(ctx, token, cursor)
	}
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return socket, nil
}

func (s *stream) open(ctx context.Context, token, cursor string) (*websocket.Conn, *http.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	address := "ws" + strings.TrimPrefix(s.client.hub, "http") + "/client/ws"
	if cursor != "" {
		address += "?cursor=" + url.QueryEscape(cursor)
	}
	header := http.Header{"Authorization": {"Bearer " + token}}
	return websocket.Dial(ctx, address, &websocket.DialOptions{HTTPHeader: header, CompressionMode: websocket.CompressionDisabled})
}

func read(ctx context.Context, socket *websocket.Conn) (*HubWebSocketFrame, error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	_, data, err := socket.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("connection ended: %w", err)
	}
	var frame HubWebSocketFrame
	if err := json.Unmarshal(data, &frame); err != nil {
		return nil, fmt.Errorf("unreadable frame: %w", err)
	}
	return &frame, nil
}

// positionError says that the cursor could not be kept: going on would lose frames at the next start.
type positionError struct{ err error }

func (e *positionError) Error() string { return "keep cursor: " + e.err.Error() }
func (e *positionError) Unwrap() error { return e.err }
