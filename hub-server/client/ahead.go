package client

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	maxAhead   = 8 << 20          // bytes
	besideText = 256              // bytes of memory that a frame takes beside its text, about
	silence    = 45 * time.Second // without a word from the hub a connection counts as dead; auth.ok may say otherwise
)

// ahead holds what a connection has brought and nobody has taken yet, in order. Somebody reads all the time, so that the pings of the hub are
// answered while a caller is busy with a frame; one who stays busy until maxAhead is held is read for no longer. A frame that is held counts for
// nothing: cursors are of frames that were handed on.
type ahead[T any] struct {
	mu   sync.Mutex
	held []received[T]
	size int // of held

	came, room chan struct{} // signals: something was added, something was taken
}

// received is a frame, or why there are no more.
type received[T any] struct {
	frame T
	size  int
	err   error
}

// greeted is a frame of /client/ws.
type greeted struct {
	*HubWebSocketFrame
	hello *AuthOKPayload // of an auth.ok
}

func newAhead[T any]() *ahead[T] {
	return &ahead[T]{came: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// fill reads until the connection ends; the last that it adds says why. read returns a frame and how many bytes it had.
func (a *ahead[T]) fill(ctx context.Context, read func(context.Context) (T, int, error)) {
	for {
		if err := a.awaitRoom(ctx); err != nil {
			a.add(received[T]{err: fmt.Errorf("connection given up: %w", err)})
			return
		}
		frame, size, err := read(ctx)
		a.add(received[T]{frame: frame, size: size + besideText, err: err})
		if err != nil {
			return
		}
	}
}

func (a *ahead[T]) awaitRoom(ctx context.Context) error {
	for a.full() {
		select {
		case <-a.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (a *ahead[T]) full() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.size >= maxAhead
}

func (a *ahead[T]) add(r received[T]) {
	a.mu.Lock()
	a.held = append(a.held, r)
	a.size += r.size
	a.mu.Unlock()
	signal(a.came)
}

// next takes the oldest that is held, waiting for it if need be. It returns why there are no more, or the error of ctx.
func (a *ahead[T]) next(ctx context.Context) (received[T], error) {
	for {
		if ctx.Err() != nil {
			return received[T]{}, ctx.Err()
		}
		if got, ok := a.take(); ok {
			signal(a.room)
			return got, got.err
		}
		select {
		case <-a.came:
		case <-ctx.Done():
		}
	}
}

func (a *ahead[T]) take() (received[T], bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.held) == 0 {
		return received[T]{}, false
	}
	got := a.held[0]
	a.held[0] = received[T]{} // for the collector
	a.held = a.held[1:]
	a.size -= got.size
	return got, true
}

// signal wakes the one who waits, now or when it comes to wait.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// patienceOf is how long the hub may be silent behind an auth.ok: twice its heartbeat and 5 s.
func patienceOf(hello *AuthOKPayload, before time.Duration) time.Duration {
	if hello.HeartbeatSecs <= 0 {
		return before
	}
	return 2*time.Duration(hello.HeartbeatSecs)*time.Second + 5*time.Second
}

// reader reads the frames of a socket.
func reader(socket *websocket.Conn) func(context.Context) (greeted, int, error) {
	patience := silence
	return func(ctx context.Context) (greeted, int, error) {
		data, err := readText(ctx, socket, patience)
		if err != nil {
			return greeted{}, 0, err
		}
		var frame HubWebSocketFrame
		if err := json.Unmarshal(data, &frame); err != nil {
			return greeted{}, 0, fmt.Errorf("unreadable frame: %w", err)
		}
		hello, err := readHello(&frame)
		if hello != nil {
			patience = patienceOf(hello, patience)
		}
		return greeted{&frame, hello}, len(data), err
	}
}

// readText reads one message, for which it waits no longer than patience.
func readText(ctx context.Context, socket *websocket.Conn, patience time.Duration) ([]byte, error) {
	limited, cancel := context.WithTimeoutCause(ctx, patience, errSilent)
	defer cancel()
	_, data, err := socket.Read(limited)
	if cause := context.Cause(limited); err != nil && cause != nil {
		return nil, fmt.Errorf("connection given up: %w", cause)
	}
	if err != nil {
		return nil, fmt.Errorf("connection ended: %w", err)
	}
	return data, nil
}

// readHello returns the payload of an auth.ok, nil of any other frame. Its cursor may stand in the payload alone.
func readHello(frame *HubWebSocketFrame) (*AuthOKPayload, error) {
	if frame.Type != HubWebSocketFrameTypeAuthOk {
		return nil, nil
	}
	var hello AuthOKPayload
	if err := json.Unmarshal(frame.Payload, &hello); err != nil {
		return nil, fmt.Errorf("unreadable auth.ok: %w", err)
	}
	if frame.Cursor == "" {
		frame.Cursor = hello.Cursor
	}
	return &hello, nil
}
