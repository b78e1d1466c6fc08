package uplink

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/lane"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// maxCommands is how many commands may wait to be received. Beyond it the connection ends, and the hub sends them again on the next.
const maxCommands = 256

// connection serves one tunnel. Three goroutines: the loop owns the sender and all publishing; one receives commands, which means waiting
// for the disk; one uploads blobs.
type connection struct {
	*Uplink
	bus      *bus
	sender   lane.Sender
	end      ending // owned by the loop
	commands chan wire.Command
	receipts chan wire.CommandReceipt
	blobs    chan []event.BlobRef // cap 1: the sender asks for one row's at a time
	uploads  chan struct{}        // cap 1: they are there
}

// connect opens a connection and serves it until it ends, or until ctx has ended and the last rows are committed or farewell is over.
func (u *Uplink) connect(ctx context.Context) ending {
	t, err := u.hub.open(ctx)
	if err != nil {
		return ending{cause: err}
	}
	b, err := openBus(ctx, u.opts.Identity.Edge, t)
	if err != nil {
		return ending{cause: err}
	}
	c := &connection{
		Uplink: u, bus: b, commands: make(chan wire.Command, maxCommands), receipts: make(chan wire.CommandReceipt, maxCommands),
		blobs: make(chan []event.BlobRef, 1), uploads: make(chan struct{}, 1),
	}
	defer b.close()
	serving := supervise.NewGroup(context.WithoutCancel(ctx)) // outlives ctx by the farewell
	serving.Go(func(life context.Context) error { return c.loop(life, ctx.Done()) })
	serving.Go(c.receive)
	serving.Go(c.upload)
	c.end.cause = serving.Wait()
	return c.end
}

// errDone ends a connection after the edge was told to stop and everything was said.
var errDone = errors.New("the edge stops")

// farewell is how long a stopping edge tries to get its last rows committed.
const farewell = 2 * time.Second

// loop feeds the sender and does what it says. ctx ends with the connection; stop asks for its end.
func (c *connection) loop(ctx context.Context, stop <-chan struct{}) error {
	watch := newSleepWatch()
	defer watch.stop()
	var giveUp <-chan time.Time
	grown := c.opts.Journal.Appended()
	_, changed := c.opts.Profiles.Profiles() // before the greeting, which says what there is: a change in between is said twice
	err := c.greet(ctx)
	for err == nil && (giveUp == nil || !c.sender.Settled()) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-stop:
			stop, giveUp = nil, time.After(farewell)
			err = c.feed(ctx, grownTo(c.opts.Journal.State().Head))
		case <-giveUp:
			return errDone
		case err = <-c.bus.closed:
			err = fmt.Errorf("bus: %w", err)
		case m := <-c.bus.inbox:
			err = c.hear(ctx, m)
		case <-grown:
			grown = c.opts.Journal.Appended()
			err = c.feed(ctx, grownTo(c.opts.Journal.State().Head))
		case <-changed:
			var now []wire.Profile
			now, changed = c.opts.Profiles.Profiles()
			err = c.publish(subject.Capabilities, wire.Capabilities{Profiles: now})
		case r := <-c.receipts:
			err = c.publish(subject.Receipt, r)
		case <-c.uploads:
			err = c.feed(ctx, lane.Uploaded{})
		case <-watch.tick():
			if c.end.slept = watch.slept(); c.end.slept {
				return errSlept
			}
			err = c.feed(ctx, lane.Ticked{})
		}
	}
	return cmp.Or(err, errDone)
}

func grownTo(head wire.ProducerSeq) lane.Input { return lane.Grown{Head: head} }

func (c *connection) greet(ctx context.Context) error {
	hello, err := c.hello(ctx)
	if err != nil {
		return err
	}
	return c.feed(ctx, lane.Connected{Hello: hello})
}

// hello says where the journal stands. A floor that moves between the two reads makes the connection begin anew.
func (c *connection) hello(ctx context.Context) (wire.Hello, error) {
	s := c.opts.Journal.State()
	floorChain, known, err := c.opts.Journal.ChainAt(ctx, s.Floor-1)
	if err != nil {
		return wire.Hello{}, err
	}
	if !known {
		return wire.Hello{}, errFloorMoved
	}
	profiles, _ := c.opts.Profiles.Profiles()
	return wire.Hello{
		Protocol: wire.Protocol, Incarnation: s.Incarnation, BootNonce: s.BootNonce, Committed: s.Receipt,
		Floor: s.Floor, FloorChain: floorChain, Head: s.Head,
		Version: c.opts.Version, Hostname: c.opts.Hostname, Profiles: profiles, LiveRuns: c.opts.Commands.LiveRuns(), Shows: true,
		Controls: true,
	}, nil
}

// feed steps the sender and carries out what it wants, until it wants nothing more.
func (c *connection) feed(ctx context.Context, in lane.Input) error {
	wants := c.sender.Step(in, time.Now())
	for len(wants) > 0 {
		next, err := c.carryOut(ctx, wants[0])
		if err != nil {
			return err
		}
		wants = wants[1:]
		if next != nil {
			wants = append(wants, c.sender.Step(next, time.Now())...)
		}
	}
	return nil
}

// carryOut does one thing; the input it returns, if any, is the answer to it.
func (c *connection) carryOut(ctx context.Context, out lane.Output) (lane.Input, error) {
	j := c.opts.Journal
	switch out := out.(type) {
	case lane.Publish:
		return nil, c.publish(out.Verb, out.Body)
	case lane.Send:
		return nil, c.send(out.Frame)
	case lane.Fetch:
		batch, err := j.Read(ctx, out.From, out.MaxBytes)
		return lane.Fetched{Batch: batch}, err
	case lane.Upload:
		c.ask(out.Blobs)
	case lane.Keep:
		c.end.useful = true
		j.PutCommitted(out.CommitReceipt)
	case lane.Forget:
		return nil, j.MarkUploaded(ctx, out.SHA256, false)
	case lane.Renumber:
		c.opts.Log.Warn("the hub knows other rows under this journal's numbers: a new incarnation begins")
		if err := j.Renumber(ctx); err != nil {
			return nil, err
		}
		hello, err := c.hello(ctx)
		return lane.Connected{Hello: hello}, err
	case lane.Opened:
		c.end.opened = true
		c.end.useful = out.Watermark > c.watermark // what an earlier connection brought counts: its receipts may be lost
		c.watermark = out.Watermark
		c.setStatus(Connected, nil)
		c.opts.Log.Info("uplink is open", "connection", c.bus.conn)
	case lane.HangUp:
		c.end.final = !out.Retry
		return nil, out.Fault
	}
	return nil, nil
}

func (c *connection) publish(v subject.Verb, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode %s: %w", v, err)
	}
	return c.bus.publish(v, data)
}

func (c *connection) send(f wire.Frame) error {
	data := f.Append(nil)
	c.metrics.frames.Inc()
	c.metrics.rows.Add(float64(len(f.Rows)))
	c.metrics.bytes.Add(float64(len(data)))
	return c.bus.publish(subject.Frame, data)
}
