package fanload

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// buffer is the size of a subscriber's buffer: large for those that are to be fast, small for those that are to be many.
func (p Plan) buffer() int {
	if p.Subscribers > 2000 {
		return 8 << 10
	}
	return 64 << 10
}

func (p Plan) dialect(ctx context.Context) dialect {
	track := p.Work == Return
	if p.Dialect == Centrifugo {
		return &centrifugo{ctx: ctx, server: p.Server, buffer: p.buffer(), track: track}
	}
	return &hub{ctx: ctx, server: p.Server, tokens: p.Tokens, buffer: p.buffer(), track: track}
}

// Run does what the plan says.
func Run(ctx context.Context, p Plan) (r Result, err error) {
	idle, err := p.memory(ctx)
	if err != nil {
		return r, err
	}
	c := newCrowd(p.dialect(ctx), p.Subscribers)
	for _, m := range c.members[:p.Returning] {
		m.ageless = true
	}
	defer func() { err = errors.Join(err, c.close()) }()
	start := time.Now()
	if err := c.connect(ctx, c.members); err != nil {
		return r, err
	}
	r.Connecting = time.Since(start)
	switch p.Work {
	case Fan:
		err = p.fan(ctx, c, &r)
	case Post:
		err = p.post(ctx, c, &r)
	case Idle:
		err = p.idle(ctx, idle, &r)
	case Return:
		err = p.bringBack(ctx, c, &r)
	default:
		err = fmt.Errorf("no work is called %q", p.Work)
	}
	return r, err
}

func (p Plan) publisher(ctx context.Context) (publisher, error) {
	if p.Dialect == Centrifugo {
		return newSockets(ctx, p.Server)
	}
	return newEdge(ctx, p.Server, p.Owner, p.Enrolment, p.People)
}

func (p Plan) fan(ctx context.Context, c *crowd, r *Result) error {
	by, err := p.publisher(ctx)
	if err != nil {
		return err
	}
	defer by.close()
	pump := &pump{by: by, tally: c.tally, size: int64(p.Subscribers), window: int64(p.Window)}
	publish := pump.flatOut
	if p.PerSecond > 0 {
		publish = func(ctx context.Context) error { return pump.steadily(ctx, p.PerSecond) }
	}
	return p.measure(ctx, pump, publish, r)
}

func (p Plan) post(ctx context.Context, c *crowd, r *Result) error {
	all, err := newPosters(ctx, p)
	by := posters{all}
	defer by.close()
	if err != nil {
		return err
	}
	pump := &pump{by: by, tally: c.tally, size: int64(p.Subscribers)}
	publish := by.asTheyCan
	if p.PerSecond > 0 {
		publish = func(ctx context.Context) error { return pump.steadily(ctx, p.PerSecond) }
	}
	return p.measure(ctx, pump, publish, r)
}

// measure publishes, looks at both processes at the beginning and at the end of the span, and waits for what is under way then.
func (p Plan) measure(ctx context.Context, pump *pump, publish func(context.Context) error, r *Result) error {
	for _, span := range []time.Duration{p.WarmUp, p.Span} {
		before, err := p.look(pump)
		if err != nil {
			return err
		}
		pump.tally.restart()
		spanning, end := context.WithTimeout(ctx, span)
		err = publish(spanning)
		end()
		pump.tally.pause()
		if err != nil {
			return err
		}
		after, err := p.look(pump)
		if err != nil {
			return err
		}
		if err := pump.settle(); err != nil {
			return err
		}
		after.less(before, r)
	}
	r.P50, r.P99 = pump.tally.at(0.5), pump.tally.at(0.99)
	return nil
}

// sight is what can be seen at one moment.
type sight struct {
	at                   time.Time
	server, client       time.Duration
	published, delivered int64
}

func (p Plan) look(pump *pump) (s sight, err error) {
	if s.server, err = cpuOf(p.PID); err != nil {
		return s, err
	}
	if s.client, err = ownCPU(); err != nil {
		return s, err
	}
	s.at, s.published, s.delivered = time.Now(), pump.by.published(), pump.tally.delivered.Load()
	return s, nil
}

func (s sight) less(before sight, r *Result) {
	r.Span, r.ServerCPU, r.ClientCPU = s.at.Sub(before.at), s.server-before.server, s.client-before.client
	r.Published, r.Delivered = s.published-before.published, s.delivered-before.delivered
}
