package gate

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/coder/websocket"
)

// pipeListener is a network in memory, for tests in fake time. A pipe buffers nothing: a peer that does not read takes nothing.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe.test:80" }

// closeError returns the close frame in err, or code -1.
func closeError(err error) websocket.CloseError {
	var ce websocket.CloseError
	if errors.As(err, &ce) {
		return ce
	}
	return websocket.CloseError{Code: -1, Reason: err.Error()}
}
