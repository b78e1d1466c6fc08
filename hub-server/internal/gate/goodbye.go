package gate

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// goodbye ends a connection whose cause is known, and has the shard forget it.
func (c *conn) goodbye() {
	if c.stream != nil {
		c.stream.Close()
	}
	c.close(context.Cause(c.ctx))
	c.over.Store(true)
	c.wake()
}

// close says goodbye in a bounded time. A client that is gone hears nothing; one that took nothing gets a last chance to read why.
func (c *conn) close(cause error) {
	var e *ending
	if !errors.As(cause, &e) {
		c.socket.CloseNow() //nolint:errcheck // gone either way
		return
	}
	deadline := c.out.finish()
	overdue := time.AfterFunc(time.Until(deadline), c.out.cut)
	defer overdue.Stop()
	if e.kicked != nil {
		c.sayKicked(*e.kicked)
	}
	c.socket.Close(e.code, e.reason) //nolint:errcheck // closed either way
}

func (c *conn) sayKicked(k kickedOut) {
	payload, err := json.Marshal(k)
	if err != nil {
		c.log().Error("device.kicked not encoded", "error", err)
		return
	}
	c.out.add(c.seq, delivery.NewFrame(delivery.Body{Type: event.FrameType(DeviceKicked), Payload: payload}, ""))
	c.seq++
}
