package push

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

const (
	lookEvery = time.Second
	page      = 64
	lanes     = 16               // pushes at once, of one hub
	claimFor  = 90 * time.Second // longer than a push may take, its wait for a lane included
	recordFor = 5 * time.Second
	maxTries  = 8
	firstWait = 5 * time.Second // after the first failure; then four times as long each time …
	longest   = time.Hour       // … but not longer
	keptFor   = 30 * 24 * time.Hour
	forget    = 500 // at once
)

// Courier sends what is due and records what became of it. Every hub of a store has one: of several that see a delivery one sends it. If that hub
// dies between sending and recording, another sends it once more: under the same topic, so that the device shows it once.
type Courier struct {
	Store     DeliveryStore
	Attention Attention
	Sealer    Sealer
	Sender    Sender
	Public    string // the URL by which people reach the hub; "" if unknown
	Log       *slog.Logger
	Metrics   *Metrics
	Now       func() time.Time // nil: the clock
}

func (c *Courier) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

// Run sends until ctx ends. Trouble with the store is logged and tried again. What is being sent when ctx ends is cut off, and sent by the next.
func (c *Courier) Run(ctx context.Context) error {
	orders := make(chan Order)
	parts := []func(context.Context) error{func(ctx context.Context) error { return c.dispatch(ctx, orders) }}
	for range lanes {
		parts = append(parts, func(ctx context.Context) error {
			for {
				select {
				case <-ctx.Done():
					return nil
				case o := <-orders:
					c.carry(ctx, o)
				}
			}
		})
	}
	return supervise.All(ctx, parts...)
}

func (c *Courier) dispatch(ctx context.Context, orders chan<- Order) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var swept time.Time
	for {
		more, err := c.round(ctx, orders)
		if err == nil && time.Since(swept) > time.Hour {
			if _, err = c.Store.Forget(ctx, c.now().Add(-keptFor), forget); err == nil {
				swept = time.Now()
			}
		}
		if err != nil && ctx.Err() == nil {
			c.Log.Error("pushes cannot be looked for", "error", err)
		}
		if more && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// round hands what is due to the lanes, and says whether there may be more.
func (c *Courier) round(ctx context.Context, orders chan<- Order) (more bool, err error) {
	due, err := c.Store.Due(ctx, c.now(), page)
	if err != nil {
		return false, err
	}
	for _, d := range due {
		o, err := c.Store.Claim(ctx, d, c.now().Add(claimFor))
		if errors.Is(err, timer.ErrTaken) {
			continue
		}
		if err != nil {
			return false, err
		}
		select {
		case orders <- o:
		case <-ctx.Done():
			return false, nil
		}
	}
	return len(due) > 0 && ctx.Err() == nil, nil
}

// carry sees one order through.
func (c *Courier) carry(ctx context.Context, o Order) {
	out := c.decide(ctx, o)
	if ctx.Err() != nil && !out.Took {
		return // whether it went out is not known: the claim runs out, and another sends it under the same topic
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordFor)
	defer cancel()
	if err := c.Store.Record(ctx, o, out); err != nil {
		c.Log.Error("what became of a push cannot be recorded", "notification", o.Notification, "device", o.Device, "error", err)
		return
	}
	c.Metrics.count(o.Channel, out)
	c.Log.Debug("push", "notification", o.Notification, "device", o.Device, "state", out.State, "code", out.Code, "status", out.Status)
}

// decide does what there is to do about an order, and says what to record.
func (c *Courier) decide(ctx context.Context, o Order) Outcome {
	if o.State == Clearing {
		return c.takeBack(ctx, o)
	}
	if out, ok := o.needless(); ok {
		return out
	}
	if looks := c.Attention.Looking(ctx, o.User); len(looks) > 0 {
		at := nearest(looks, o.Delivery)
		return Outcome{State: Suppressed, Code: CodeActive, ActiveDevice: at.Device, ActiveSession: at.Session}
	}
	var q Quote
	if o.Registration.ShowText {
		var err error
		if q, err = c.Store.Quote(ctx, o.Delivery); err != nil {
			c.Log.Error("a push goes out without its text", "notification", o.Notification, "error", err)
			q = Quote{}
		}
	}
	result := c.send(ctx, o, compose(o.Delivery, c.Public, q))
	return result.outcome(o, c.now())
}

// needless says whether an order is not to be sent, and why.
func (o Order) needless() (Outcome, bool) {
	switch {
	case o.Registration == nil || o.LoginEnded:
		return Outcome{State: Withdrawn, Code: CodeUnregistered}, true
	case !o.Member:
		return Outcome{State: Withdrawn, Code: CodeNotMember}, true
	case o.Muted:
		return Outcome{State: Suppressed, Code: CodeMuted}, true
	}
	return Outcome{}, false
}

// nearest is the glance that says most: the one at what the push is about, or any.
func nearest(looks []Glance, d Delivery) Glance {
	for _, g := range looks {
		if d.Session != "" && g.Session == d.Session {
			return g
		}
	}
	return looks[0]
}

// takeBack tells a device that what it was sent has been read. If that cannot be done it stays sent: it is no more than untidy.
func (c *Courier) takeBack(ctx context.Context, o Order) Outcome {
	if o.Registration == nil || o.LoginEnded {
		return Outcome{State: Sent, Code: CodeNotCleared}
	}
	result := c.send(ctx, o, Message{ID: o.Notification, Type: o.Type, Clear: true, Delivery: o.Delivery})
	switch {
	case result.Code == "":
		return Outcome{State: Cleared, Code: CodeRead, Status: result.Status}
	case result.Later && o.Tries < maxTries:
		return Outcome{State: Clearing, Code: result.Code, Status: result.Status, Again: c.now().Add(wait(o.Tries, result.After))}
	}
	return Outcome{State: Sent, Code: CodeNotCleared, Status: result.Status}
}

func (c *Courier) send(ctx context.Context, o Order, m Message) Result {
	target, err := o.Registration.open(c.Sealer)
	if err != nil {
		c.Log.Error("the address of a device cannot be read: the keys file is another than the one it was stored with", "device", o.Device, "error", err)
		return Result{Code: CodeUnreadable}
	}
	return c.Sender.Send(ctx, target, m)
}

// outcome judges what a service has made of a push.
func (r Result) outcome(o Order, now time.Time) Outcome {
	out := Outcome{Code: r.Code, Status: r.Status, Gone: r.Code == CodeGone}
	switch {
	case r.Code == "":
		out.State, out.Took = Sent, true
	case r.Later && o.Tries < maxTries:
		out.State, out.Again = Pending, now.Add(wait(o.Tries, r.After))
	default:
		out.State = Failed
	}
	return out
}

// wait is how long to wait after so many tries; a service may ask for more, within bounds.
func wait(tries int, asked time.Duration) time.Duration {
	w := firstWait
	for range tries - 1 {
		w = min(4*w, longest)
	}
	return min(max(w, asked), longest)
}
