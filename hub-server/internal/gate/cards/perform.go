package cards

import (
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/gate/cards/talk"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// actWithin is how long the store may take over one thing that a client asks for.
const actWithin = 30 * time.Second

// begin opens the conversation that the address names, if it names one.
func (c *conn) begin() {
	var act talk.Act
	c.tell(func(t *talk.Talk) { act = t.Start() })
	c.perform(talk.Heard{}, act)
}

// perform does what has to be done for a frame, and what follows from that.
func (c *conn) perform(h talk.Heard, act talk.Act) {
	for act != nil {
		next, err := c.do(h, act)
		if err != nil {
			c.failed(h, err)
			return
		}
		act = next
	}
}

func (c *conn) do(h talk.Heard, act talk.Act) (next talk.Act, err error) {
	ctx, cancel := context.WithTimeout(c.ctx, actWithin)
	defer cancel()
	switch a := act.(type) {
	case talk.Enter:
		return c.enter(ctx, a)
	case talk.Create:
		return c.create(ctx, a)
	case talk.Find:
		return c.find(ctx, h, a)
	case talk.Look:
		return nil, c.look(ctx, h, a)
	case talk.Post:
		return nil, c.post(ctx, h, a)
	case talk.Answer:
		return nil, c.answer(ctx, a)
	case talk.Offer:
		return nil, c.offer(ctx, a.Session, a.Tools)
	case talk.Return:
		return nil, c.carried(ctx, a)
	case talk.Interrupt:
		return nil, c.interrupt(ctx, a)
	}
	return nil, nil
}

// failed tells the client why a frame of its has led to nothing.
func (c *conn) failed(h talk.Heard, err error) {
	if c.ctx.Err() != nil {
		return
	}
	code := fault.CodeOf(err)
	c.server.metrics.errors.With(string(code)).Inc()
	if code == fault.Internal {
		c.log().Error("frame of a card client failed", "type", kind(h), "error", err)
	}
	c.tell(func(t *talk.Talk) { t.Failed(time.Now(), h, err) })
}
