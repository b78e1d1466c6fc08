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

// ErrKicked ends a stream for good: the same device connected elsewhere, or its login ended (device.kicked). The keeper has forgotten the
// credentials, if it is a Forgetter; a new login makes a new device.
var ErrKicked = errors.New("the hub has ended this device's connection")

// Event is one thing that a stream tells: a frame, or a change of the connection.
type Event struct {
	Frame  *HubWebSocketFrame // nil when the link went down
	Link   Link               // a change of the connection, or ""
	Resume *AuthOKPayload     // with LinkUp: how the hub took the cursor
	Err    error              // with LinkDown: why
	// Snapshot says that frames are missing which the hub cannot send: after a LinkUp that did not replay from a cursor, and in place of what
	// a system.gap or an error stands for. Read the state by REST before the next event; never apply this frame itself.
	Snapshot bool
}

// Link is a change of the connection under a stream.
type Link string

// Changes of a link.
const (
	LinkUp   Link = "up"   // Frame is the first auth.ok
	LinkDown Link = "down" // Err says why; the stream connects again by itself
)

// Stream follows /client/ws for as long as the caller iterates. It reconnects by itself and resumes by cursor, so that every frame of the outbox is
// handed on at least once, in order. While the caller is busy it reads on, up to 8 MiB, so that the hub sees a living device. A connection resumes
// behind the newest frame that was handed on. The cursor is kept when the caller comes back for the next event: what a crash leaves untaken comes
// again. It ends with an error when going on is no use: ErrLoggedOut, ErrKicked, a position that cannot be kept, or the end of ctx.
//
// The rules of S3: a frame whose seq_id is not above the last one is dropped; one that is not the next means loss, so the connection is made
// anew; frames are applied by business key (see Key and Reducer), never by seq_id. Feed does all that a client has to.
func (c *Client) Stream(ctx context.Context, at Position) iter.Seq2[Event, error] {
	return c.stream(ctx, &progress{kept: at})
}

func (c *Client) stream(ctx context.Context, at *progress) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := &stream{client: c, at: at, yield: yield}
		if err := at.applied(); err != nil { // the reader of an earlier loop has come back
			yield(Event{}, err)
			return
		}
		for backoff := firstBackoff; ; backoff = min(backoff*2, lastBackoff) {
			err := s.once(ctx)
			if s.stopped {
				return
			}
			if fatal := fatalError(ctx, err); fatal != nil {
				yield(Event{}, fatal)
				return
			}
			if s.fruitful || s.heard && time.Since(s.up) >= lastBackoff {
				backoff = firstBackoff
			}
			if !s.emit(Event{Link: LinkDown, Err: err}) {
				return
			}
			if errors.Is(err, errSlept) {
				continue // nobody else wakes at this moment, and a person is waiting
			}
			if err := pause(ctx, max(jitter(backoff), later(askedPause(err)))); err != nil {
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

// later is d and up to a quarter more, for the same reason: many were asked to come back then.
func later(d time.Duration) time.Duration { return d + rand.N(d/4+1) }

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

// stream is one loop over a stream. It is used by one goroutine.
type stream struct {
	client    *Client
	at        *progress
	yield     func(Event, error) bool
	stopped   bool // the caller has left the loop
	heard     bool // the present connection has brought at least one frame
	fruitful  bool // it has brought a step that no connection had brought
	up        time.Time
	placeless bool   // the present connection was asked for without a cursor
	token     string // that the present connection was made with
	refused   string // the one of a connection whose login the hub has ended
}

func (s *stream) emit(e Event) bool {
	s.stopped = !s.yield(e, nil)
	return !s.stopped
}

// take hands the frame on; when the caller comes back, its cursor is kept.
func (s *stream) take(frame *HubWebSocketFrame, hello *AuthOKPayload) error {
	e := Event{Frame: frame, Snapshot: isGap(frame.Type)}
	if !s.heard && hello != nil {
		e.Link, e.Resume = LinkUp, hello
		// A hub that is told no cursor goes by what this device has received. Whether that was taken, nobody knows.
		e.Snapshot = hello.Resume != AuthOKPayloadResumeReplayed || s.placeless
	}
	if !s.heard {
		s.heard, s.up = true, time.Now()
	}
	s.fruitful = s.fruitful || hello == nil && frame.Cursor != "" && frame.Cursor != s.at.handed
	s.at.hand(frame.Cursor)
	var kicked error
	if frame.Type == HubWebSocketFrameTypeDeviceKicked {
		kicked = errors.Join(fmt.Errorf("%w: %s", ErrKicked, kickReason(frame)), s.client.tokens.drop())
	}
	if !s.emit(e) {
		return nil
	}
	return errors.Join(s.at.applied(), kicked)
}
