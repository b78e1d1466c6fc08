package cards

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/gate"
	"github.com/switchyard-dev/switchyard/hub-server/internal/gate/cards/talk"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// conn is one connection. Three goroutines serve it: one hears the client and does what it asks, one frame after the other; one writes, so that a
// client that takes little is still heard; one keeps the times. What it holds is bounded: a frame that is heard, what talk lets wait, a page of the
// trace, and what the socket has not taken of these.
type conn struct {
	server *Server
	id     id.Connection
	who    account.Principal
	socket *gate.Socket

	ctx    context.Context
	cancel context.CancelCauseFunc

	inbox gate.Bucket   // owned by read
	wake  chan struct{} // has a value when write has something to do
	room  chan struct{} // has a value when what waited was written
	again atomic.Bool   // the conversation may have changed
	seen  atomic.Int64  // when the client last gave a sign, in nanoseconds

	mu      sync.Mutex
	talk    *talk.Talk
	watcher *cardlog.Watcher // nil until the conversation is known
}

func (c *conn) log() *slog.Logger {
	return c.server.Log.With("connection", c.id, "user", c.who.User, "device", c.who.Device)
}

// serve is the connection's life: it returns when the socket is closed and its goroutines have ended.
func (c *conn) serve() {
	c.log().Info("card client connected")
	var others sync.WaitGroup
	others.Go(func() { c.end(c.write()) })
	others.Go(c.keepTime)
	hearing := make(chan struct{})
	go func() {
		defer close(hearing)
		c.end(c.read())
	}()
	<-c.ctx.Done()
	others.Wait()
	c.goodbye()
	<-hearing
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watcher != nil {
		c.watcher.Close()
	}
	c.log().Info("card client disconnected", "cause", context.Cause(c.ctx))
}

// end ends the connection; the first cause counts. It does not wait for it.
func (c *conn) end(cause error) {
	c.cancel(cause)
	c.socket.Hurry()
}

// goodbye closes the socket. A client that is gone hears nothing; one that took nothing gets a last chance to read why.
func (c *conn) goodbye() {
	var e *ending
	if !errors.As(context.Cause(c.ctx), &e) {
		c.socket.Cut()
		return
	}
	c.socket.Close(e.code, e.reason)
}

// wakeUp has write look. It does not block.
func (c *conn) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// sign notes that the client is there.
func (c *conn) sign() { c.seen.Store(time.Now().UnixNano()) }

// tell changes what is said, and has it written.
func (c *conn) tell(do func(*talk.Talk)) {
	c.mu.Lock()
	do(c.talk)
	c.mu.Unlock()
	c.wakeUp()
}
