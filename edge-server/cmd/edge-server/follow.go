package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/edge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

type followCommand struct {
	Cursor uint64 `placeholder:"N" help:"Begin with event number N of this edge; 1 is the first (default: with the next one to come)."`
	JSON   bool   `name:"json" help:"Print each event as it is stored, one a line, for programs."`
}

// Help is shown below the usage.
func (followCommand) Help() string {
	return `Events that the edge has trimmed are named in a system.gap; the hub has them. When the connection ends, the number to go on with is said.`
}

// Run prints events until a signal comes.
func (c *followCommand) Run(p program) error {
	config, err := edge.LoadConfig(p.environ)
	if err != nil {
		return fmt.Errorf("configuration:\n%w", err)
	}
	next := c.Cursor
	err = edge.Follow(p.ctx, config, wire.ProducerSeq(c.Cursor), func(message []byte) error {
		var e event.Envelope
		if err := json.Unmarshal(message, &e); err != nil {
			return fmt.Errorf("read event: %w", err)
		}
		if e.Seq > 0 { // a gap has no number
			next = e.Seq + 1
		}
		if c.JSON {
			_, err := p.stdout.Write(append(message, '\n'))
			return err
		}
		return printEvent(p.stdout, e)
	})
	if err != nil && next > 0 {
		return fmt.Errorf("%w\nGo on with: edge-server follow --cursor %d", err, next)
	}
	return err
}

func printEvent(w io.Writer, e event.Envelope) error {
	_, err := fmt.Fprintf(w, "%d %s %s %s %.200s\n", e.Seq, e.SentAt.Local().Format(time.TimeOnly), e.Scope.RunID, e.Type, e.Payload)
	return err
}
