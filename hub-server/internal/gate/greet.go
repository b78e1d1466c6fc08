package gate

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/presence"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// authOKPayload is the payload of auth.ok: the first frame, seq_id 1, and the heartbeat. The heartbeat always says replayed: all up to
// its cursor has been sent.
type authOKPayload struct {
	Resume     delivery.Outcome `json:"resume"`
	Reason     delivery.Reason  `json:"reason,omitempty"`
	Message    string           `json:"message,omitempty"`
	Cursor     delivery.Cursor  `json:"cursor"`
	Epoch      wire.Epoch       `json:"epoch"`
	Connection id.Connection    `json:"connection_id"`
	Heartbeat  int              `json:"heartbeat_secs"`

	// Online is which friends are there, and no others; nil if that is not said.
	Online []presence.Standing `json:"online,omitzero"`
}

// greet decides where the client goes on, opens its stream there, tells it in auth.ok, and brings it up to the tail.
func (c *conn) greet() error {
	plan, err := c.open()
	c.gate.opening.Leave()
	if err != nil {
		if c.ctx.Err() == nil {
			c.log().Error("client not served", "error", err)
		}
		return tryLater()
	}
	c.gate.metrics.resumes.With(string(plan.Outcome), string(plan.Reason)).Inc()
	c.log().Info("client connected", "device_type", c.who.DeviceType, "resume", plan.Outcome, "reason", plan.Reason)
	// Not the stream's own cursor: the client has nothing yet of what comes after From.
	if err := c.sendAuthOK(plan, plan.Cursor, nil); err != nil {
		return err
	}
	c.times.begin(time.Now())
	return c.catchUp()
}

func (c *conn) open() (delivery.Plan, error) {
	if err := c.gate.turns.take(c.ctx); err != nil {
		return delivery.Plan{}, err
	}
	defer c.gate.turns.back()
	plan, err := c.gate.Planner.Plan(c.ctx, c.who.User, c.who.Device, c.cursor)
	if err != nil {
		return plan, err
	}
	c.cursor = "" // it may hold on to the whole request
	if c.stream, err = c.gate.Tail.Open(c.ctx, c.who.User, plan.From); err != nil {
		return plan, err
	}
	c.stream.Notify(c.wake)
	return plan, nil
}

// beatAgain says again what auth.ok said first, with the cursor as it is now: the heartbeat that a browser can see, and an idle client's
// cursor never goes stale.
func (c *conn) beatAgain() {
	if err := c.sendAuthOK(delivery.Plan{Outcome: delivery.Replayed}, c.stream.Cursor(), nil); err != nil {
		c.end(err)
	}
}

func (c *conn) sendAuthOK(plan delivery.Plan, cursor delivery.Cursor, online []presence.Standing) error {
	payload, err := json.Marshal(authOKPayload{
		Resume: plan.Outcome, Reason: plan.Reason, Message: plan.Reason.Sentence(), Cursor: cursor, Epoch: c.gate.Tail.Epoch(),
		Connection: c.id, Heartbeat: int(heartbeat.Seconds()), Online: online,
	})
	if err != nil {
		return fmt.Errorf("encode auth.ok: %w", err)
	}
	c.out.add(c.seq, delivery.NewFrame(delivery.Body{Type: event.FrameType(AuthOK), Payload: payload}, cursor))
	c.seq++
	return nil
}
