package cards

import (
	"context"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/hub-server/internal/gate/cards/talk"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

const (
	maxFrame   = 1 << 20  // bytes of one message of a client: a file may be in it
	maxEndless = 16 << 20 // a longer one is not even read to its end
)

// read hears the client until the socket ends, and says why it ended. It always runs: pongs and closes arrive through it.
func (c *conn) read() error {
	c.begin()
	for {
		text, message, err := c.socket.Next(context.Background())
		if err != nil {
			return fmt.Errorf("%w: %w", errGone, err)
		}
		raw, err := c.take(message)
		if err != nil {
			return err
		}
		if c.ctx.Err() != nil {
			continue // too late to count; the close is on its way
		}
		if text && !utf8.Valid(raw) {
			c.end(notText())
			continue
		}
		if c.turn() {
			c.hear(text, raw)
		}
	}
}

// take reads a message; the first byte behind maxFrame says that it is too long.
func (c *conn) take(message io.Reader) ([]byte, error) {
	signs := signing{message, c.sign}
	raw, err := io.ReadAll(io.LimitReader(signs, maxFrame+1))
	if err == nil && len(raw) > maxFrame {
		var rest int64
		if rest, err = io.Copy(io.Discard, io.LimitReader(signs, maxEndless)); rest == maxEndless {
			return nil, endless()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errGone, err)
	}
	return raw, nil
}

// signing counts each piece of a message as a sign of the client.
type signing struct {
	io.Reader
	sign func()
}

func (s signing) Read(p []byte) (int, error) {
	s.sign()
	return s.Reader.Read(p)
}

// turn waits until the client may be heard again: it comes too often, or does not take what it is told. False at the end of the connection.
func (c *conn) turn() bool {
	for {
		wait := c.inbox.Wait(time.Now())
		if wait == 0 {
			break
		}
		select {
		case <-time.After(wait):
		case <-c.ctx.Done():
			return false
		}
	}
	for c.full() {
		select {
		case <-c.room:
		case <-c.ctx.Done():
			return false
		}
	}
	return true
}

func (c *conn) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.talk.Full()
}

// hear takes one frame and does what it asks.
func (c *conn) hear(text bool, raw []byte) {
	h, err := parse(text, raw)
	c.server.metrics.heard.With(kind(h)).Inc()
	var act talk.Act
	c.tell(func(t *talk.Talk) { act = t.Hear(time.Now(), h, err) })
	c.perform(h, act)
}

// kind is the type of a frame as a label.
func kind(h talk.Heard) string {
	if h.Frame == nil {
		return "unreadable"
	}
	return h.Type
}

// parse reads a frame, or says what is wrong with it.
func parse(text bool, raw []byte) (talk.Heard, error) {
	switch {
	case len(raw) > maxFrame:
		return talk.Heard{}, fault.New(fault.TooLarge, "A frame has at most %d bytes.", maxFrame)
	case !text:
		return talk.Heard{}, fault.New(fault.InvalidRequest, "A frame is a text message, not a binary one.")
	}
	return card.ReadFrame(raw)
}
