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

// Input is what goes to an agent's stdin, in order. Send and Close never block and may be called from anywhere, before and during Follow.
type Input struct {
	mu     sync.Mutex
	closed bool
	chunks chan []byte
}

// NewInput returns an empty, open Input.
func NewInput() *Input { return &Input{chunks: make(chan []byte, maxInput)} }

// Send queues chunk, which belongs to the Input from now on. A full queue is an error: an agent that has not read 256 messages never will.
func (i *Input) Send(chunk []byte) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return ErrInputClosed
	}
	select {
	case i.chunks <- chunk:
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

// copyTo writes until the Input or w is closed, then closes w. An agent that exits without reading is within its rights.
func (i *Input) copyTo(w io.WriteCloser) {
	defer w.Close()
	for chunk := range i.chunks {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}
