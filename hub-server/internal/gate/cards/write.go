package cards

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/gate"
	"github.com/switchyard-dev/switchyard/hub-server/internal/gate/cards/talk"
)

const (
	pageBytes  = 64 << 10 // about what is read of a trace at once
	readWithin = 30 * time.Second
	readTries  = 10 // times in a row that the store may fail before the connection is given up
)

// write writes what there is to say until the connection ends, and says why. However far behind a client is, it is told the same frames: it reads
// its trace at its own pace (R7).
func (c *conn) write() error {
	for failed := 0; ; {
		switch err := c.writeAll(); {
		case err == nil:
			failed = 0
		case c.ctx.Err() != nil:
			return context.Cause(c.ctx)
		case errors.Is(err, errStore):
			if failed++; failed == readTries {
				return tryLater()
			}
			c.log().Warn("cards of a conversation not read, will retry", "error", err)
			if !c.pause() {
				return context.Cause(c.ctx)
			}
			continue
		default:
			return err
		}
		select {
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		case <-c.wake:
		case <-c.ready():
		}
	}
}

// errStore is in errors of what could not be read, and may be later.
var errStore = errors.New("store")

func (c *conn) pause() bool {
	select {
	case <-time.After(c.server.pace.again):
		return true
	case <-c.ctx.Done():
		return false
	}
}

// ready is the signal that there may be more of the trace; nil, which never comes, while there is none.
func (c *conn) ready() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watcher == nil {
		return nil
	}
	return c.watcher.Ready()
}

// writeAll writes until there is nothing more to say for now.
func (c *conn) writeAll() error {
	for {
		if c.again.Swap(false) {
			if err := c.lookAgain(); err != nil {
				c.again.Store(true)
				return err
			}
		}
		c.mu.Lock()
		step, over := c.talk.Next(), c.talk.Over()
		c.mu.Unlock()
		if step.Say != nil {
			if err := c.send(step.Say); err != nil {
				return err
			}
			select {
			case c.room <- struct{}{}:
			default:
			}
			continue
		}
		if over {
			return left()
		}
		more, err := c.page(step.Read)
		if err == nil && (more || c.newModel()) {
			continue
		}
		return errors.Join(err, c.flush())
	}
}

// newModel has the conversation looked at again when an agent has named another model than the client was told.
func (c *conn) newModel() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watcher == nil || c.talk.Over() || c.watcher.Model() == c.talk.Model() {
		return false
	}
	c.again.Store(true)
	return true
}

// page writes what comes next of the trace; false if that is nothing.
func (c *conn) page(r *talk.Range) (more bool, err error) {
	if r == nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, readWithin)
	defer cancel()
	frames, err := c.server.Traces.Read(ctx, r.Trace, r.After, pageBytes)
	switch {
	case errors.Is(err, cardlog.ErrExpired), errors.Is(err, cardlog.ErrUnknown):
		return false, tryLater() // it has to begin anew, and hears why when it resumes
	case err != nil:
		return false, fmt.Errorf("%w: %w", errStore, err)
	case len(frames) == 0:
		return false, nil
	}
	if in, err := c.mayRead(ctx); err != nil || !in {
		return true, err
	}
	var say [][]byte
	c.mu.Lock()
	say = c.talk.Took(*r, frames)
	c.mu.Unlock()
	return true, c.send(say)
}

// mayRead says whether the person is in the conversation now, so that what was read before may be told (SEC13).
func (c *conn) mayRead(ctx context.Context) (bool, error) {
	c.mu.Lock()
	session := c.talk.Session()
	c.mu.Unlock()
	in, err := c.server.Sessions.IsMember(ctx, c.who.User, session)
	if err != nil {
		return false, fmt.Errorf("%w: %w", errStore, err)
	}
	if !in {
		c.tell(func(t *talk.Talk) { t.Left(time.Now()) })
	}
	return in, nil
}

// send writes frames.
func (c *conn) send(frames [][]byte) error {
	for _, f := range frames {
		if c.socket.Text(f) >= pageBytes {
			if err := c.flush(); err != nil {
				return err
			}
		}
	}
	c.server.metrics.frames.Add(float64(len(frames)))
	return c.flush()
}

// flush writes everything gathered, however long that takes.
func (c *conn) flush() error {
	err := c.socket.Flush()
	switch {
	case err == nil:
		return nil
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	case errors.Is(err, gate.ErrTakesNothing):
		c.server.metrics.slow.Inc()
		return slow()
	}
	return errGone
}
