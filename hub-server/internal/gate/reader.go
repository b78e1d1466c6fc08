package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const readLimit = 64 << 10 // bytes of one message of a client

// pingRate is how often a client gets a pong.
var pingRate = Rate{PerSecond: 1, Burst: 10}

// Why a frame of a client was ignored, as a label of the metric.
const (
	ignoredRate    = "rate"
	ignoredInvalid = "invalid"
	ignoredType    = "type"
	ignoredForeign = "not_a_member"
)

// read takes what the client sends until the socket ends, and says why it ended. It always runs: pongs and closes arrive through it.
func (c *conn) read() error {
	for {
		kind, data, err := c.socket.Read(context.Background())
		if err != nil {
			return fmt.Errorf("%w: %w", errGone, err)
		}
		if c.ctx.Err() != nil {
			continue // too late to count; the close is on its way
		}
		if kind == websocket.MessageText && !utf8.Valid(data) {
			c.end(notText())
			continue
		}
		if why := c.take(kind, data); why != "" {
			c.gate.metrics.ignored.With(why).Inc()
		}
	}
}

// take acts on a frame, or says why it is ignored. Nothing a client sends ends its connection, but for a broken or oversized message.
func (c *conn) take(kind websocket.MessageType, data []byte) (ignored string) {
	if !c.inbox.Take(time.Now()) {
		return ignoredRate
	}
	if kind != websocket.MessageText || event.Depth(data) > event.MaxDepth {
		return ignoredInvalid
	}
	frame, err := parseInbound(data)
	switch {
	case err != nil:
		return ignoredInvalid
	case frame.Type != Typing:
		return ignoredType
	}
	session, err := parseTyping(frame.Payload)
	switch {
	case err != nil:
		return ignoredInvalid
	case !c.gate.Tail.InSession(c.who.User, session):
		return ignoredForeign
	}
	c.gate.typing(session, c.who.User)
	return ""
}

// mayPong limits how often a client gets a pong.
func (c *conn) mayPong() bool { return c.pings.Take(time.Now()) }

// inbound is what a client may say of a frame; everything else in it is ignored.
type inbound struct {
	Type    FrameType       `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

func parseInbound(data []byte) (inbound, error) {
	var frame inbound
	err := json.Unmarshal(data, &frame)
	return frame, err
}

// parseTyping reads the payload of typing: `{"session_id": …}`, or the bare id (S3).
func parseTyping(payload []byte) (id.Session, error) {
	var bare string
	if json.Unmarshal(payload, &bare) == nil {
		return id.ParseSession(bare)
	}
	var object struct {
		Session string `json:"session_id"`
	}
	if err := json.Unmarshal(payload, &object); err != nil {
		return "", fmt.Errorf("read typing: %w", err)
	}
	return id.ParseSession(object.Session)
}
