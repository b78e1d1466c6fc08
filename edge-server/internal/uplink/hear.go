package uplink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/lane"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// hear turns a message of the hub into an input. What cannot be read ends the connection: nothing may be skipped.
func (c *connection) hear(ctx context.Context, m *nats.Msg) error {
	verb := subject.VerbOf(m.Subject)
	in, err := c.read(ctx, verb, m.Data)
	if err != nil {
		return fmt.Errorf("hear %s: %w", verb, err)
	}
	if in == nil {
		return nil
	}
	return c.feed(ctx, in)
}

func (c *connection) read(ctx context.Context, verb subject.Verb, data []byte) (lane.Input, error) {
	switch verb {
	case subject.Welcome:
		w, err := decode[wire.Welcome](data)
		if err != nil {
			return nil, err
		}
		chain, known, err := c.opts.Journal.ChainAt(ctx, w.Watermark)
		return lane.Welcomed{Welcome: w, Local: chain, Known: known}, err
	case subject.Committed:
		w, err := decode[wire.CommittedTo](data)
		if err != nil {
			return nil, err
		}
		chain, known, err := c.opts.Journal.ChainAt(ctx, w.Receipt.Seq)
		return lane.Acknowledged{CommittedTo: w, Local: chain, Known: known}, err
	case subject.Rewind:
		w, err := decode[wire.Rewind](data)
		return lane.Rewound{Rewind: w}, err
	case subject.Refused:
		w, err := decode[wire.Refused](data)
		return lane.Refused{Refused: w}, err
	case subject.Ping:
		w, err := decode[wire.Ping](data)
		return lane.Pinged{Ping: w}, err
	case subject.Command:
		return nil, c.order(data)
	case subject.Show:
		return nil, c.show(ctx, data)
	}
	return nil, nil // a verb of a newer hub
}

func decode[T any](data []byte) (T, error) {
	var v T
	if len(data) > wire.MaxControlSize || event.Depth(data) > event.MaxDepth {
		return v, fault.New(fault.FrameUnreadable, "A message of the hub is too large.")
	}
	err := json.Unmarshal(data, &v)
	return v, err
}

// order hands a command to the receiving goroutine.
func (c *connection) order(data []byte) error {
	command, err := decode[wire.Command](data)
	if err != nil {
		return err
	}
	select {
	case c.commands <- command:
		return nil
	default:
		return errors.New("too many commands wait")
	}
}

// show answers a hub whose store is older than some of the runs here with the commands that started them.
func (c *connection) show(ctx context.Context, data []byte) error {
	asked, err := decode[wire.Show](data)
	if err != nil {
		return err
	}
	for _, r := range asked.Runs {
		found, known, err := c.opts.Journal.FindRun(ctx, r)
		if err != nil {
			return err
		}
		answer := wire.Shown{RunID: r}
		if known {
			answer.Command = &found.Start
		}
		if err := c.publish(subject.Shown, answer); err != nil {
			return err
		}
	}
	return nil
}
