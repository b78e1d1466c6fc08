package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

const (
	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 10 * time.Second
)

// ErrKicked ends a stream for good: the same device connected elsewhere, or its login ended (device.kicked).
var ErrKicked = errors.New("the hub has ended this device's connection")

// Position is where a device stands in the hub's order of frames. Keep it and come back with it.
type Position interface {
	// LoadCursor returns the newest cursor, or "".
	LoadCursor() (string, error)
	// SaveCursor replaces it. It is called when the caller has taken every frame up to the cursor.
	SaveCursor(cursor string) error
}

// Event is one thing that a stream tells: a frame, or a change of the connection.
type Event struct {
	Frame  *HubWebSocketFrame // nil when the link went down
	Link   Link               // a change of the connection, or ""
	Resume *AuthOKPayload     // with LinkUp: how the hub took the cursor
	Err    error              // with LinkDown: why
}

// Link is a change of the connection under a stream.
type Link string

// Changes of a link.
const (
	LinkUp   Link = "up"   // Frame is the first auth.ok; Resume.Resume "reset" means: take a snapshot by REST, then go on
	LinkDown Link = "down" // Err says why; the stream connects again by itself
)

// Stream follows /client/ws for as long as the caller iterates. It reconnects by itself and resumes by cursor, so that every frame of
// the outbox is handed on at least once, in order. A cursor is kept when the caller comes back for the next event: what a crash leaves
// untaken comes again. It ends with an error when going on is no use: ErrLoggedOut, ErrKicked, a position that cannot be kept, or the
// end of ctx.
//
// The rules of S3: a frame whose seq_id is not the next one of its connection means loss, so the connection is made anew; frames are
// applied by business key (see Key and Reducer), never by seq_id.
func (c *Client) Stream(ctx context.Context, at Position) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := &stream{client: c, position: at, yield: yield}
		for backoff := firstBackoff; ; backoff = min(backoff*2, lastBackoff) {
			err := s.once(ctx)
			if s.stopped {
				return
			}
			if fatal := fatalError(ctx, err); fatal != nil {
				yield(Event{}, fatal)
				return
			}
			if s.heard {
				backoff = firstBackoff
			}
			if !s.emit(Event{Link: LinkDown, Err: err}) {
				return
			}
			if errors.Is(err, errSlept) {
				continue // nobody else wakes at this moment, and a person is waiting
			}
			if err := pause(ctx, max(jitter(backoff), askedPause(err))); err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}

// fatalError returns what ends the stream, or nil if connecting again may help.
func fatalError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var position *positionError
	if errors.Is(err, ErrLoggedOut) || errors.Is(err, ErrKicked) || errors.As(err, &position) {
		return err
	}
	return nil
}

// jitter is d ± a quarter, so that many clients do not come back at once.
func jitter(d time.Duration) time.Duration { return d*3/4 + rand.N(d/2) }

func askedPause(err error) time.Duration {
	var problem *ProblemError
	if errors.As(err, &problem) {
		return problem.RetryAfter
	}
	return 0
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
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

// take hands the frame on and keeps its cursor then.
func (s *stream) take(frame *HubWebSocketFrame, hello *AuthOKPayload) error {
	e := Event{Frame: frame}
	if !s.heard && hello != nil {
		e.Link, e.Resume = LinkUp, hello
	}
	s.heard = true
	if !s.emit(e) {
		return nil
	}
	if frame.Cursor != "" {
		if err := s.position.SaveCursor(frame.Cursor); err != nil {
			return &positionError{err}
		}
	}
	if frame.Type == HubWebSocketFrameTypeDeviceKicked {
		return fmt.Errorf("%w: %s", ErrKicked, kickReason(frame))
	}
	return nil
}

// positionError says that the cursor could not be kept: going on would repeat or lose frames at the next start.
type positionError struct{ err error }

func (e *positionError) Error() string { return "keep cursor: " + e.err.Error() }
func (e *positionError) Unwrap() error { return e.err }
