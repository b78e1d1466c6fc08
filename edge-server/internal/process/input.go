package process

import (
	"errors"
	"io"
	"sync"
)

// maxInput is how many writes may wait for an agent that does not read its stdin.
const maxInput = 256

// Errors of Input.Send.
var (
	ErrInputClosed = errors.New("stdin is closed")
	ErrInputFull   = errors.New("the agent does not read its stdin")
)

// Input is what goes to an agent's stdin, in order. Send, SendThen and Close never block and may be called from anywhere, before and during
// Follow.
type Input struct {
	mu     sync.Mutex
	closed bool
	chunks chan chunk
	done   chan struct{}
}

type chunk struct {
	bytes   []byte
	written func()
}

// NewInput returns an empty, open Input.
func NewInput() *Input { return &Input{chunks: make(chan chunk, maxInput), done: make(chan struct{})} }

// Send queues bytes, which belong to the Input from now on. A full queue is an error: an agent that has not read 256 messages never will.
func (i *Input) Send(bytes []byte) error { return i.SendThen(bytes, func() {}) }

// SendThen is Send that calls written, from another goroutine, once the agent's pipe has taken all of bytes. That may never be.
func (i *Input) SendThen(bytes []byte, written func()) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return ErrInputClosed
	}
	select {
	case i.chunks <- chunk{bytes, written}:
		return nil
	default:
		return ErrInputFull
	}
}

// Close ends stdin after what was sent. It may be called again.
func (i *Input) Close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.closed {
		i.closed = true
		close(i.chunks)
	}
}

// Done returns a channel that is closed during Follow when nothing will be written any more.
func (i *Input) Done() <-chan struct{} { return i.done }

// copyTo writes until the Input or w is closed, then closes w. An agent that exits without reading is within its rights.
func (i *Input) copyTo(w io.WriteCloser) {
	defer close(i.done)
	defer w.Close()
	for c := range i.chunks {
		if _, err := w.Write(c.bytes); err != nil {
			return
		}
		c.written()
	}
}
