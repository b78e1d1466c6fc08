package runlog

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

const (
	logPage    = 500      // events read at once
	spillBytes = 64 << 10 // beyond it a value of a hub's own event becomes a blob, as at the edge (architecture 6.4)
)

// closer writes outcomes on an edge's behalf. Like the edge it closes first what is open, and for that it reads the log.
type closer struct {
	events EventStore
	blobs  *Blobs
}

// ending returns the closings of everything that is open in the log and in the entries that will follow it, then the outcome.
func (c closer) ending(ctx context.Context, r Run, follow []Entry, outcome run.Outcome) ([]Entry, error) {
	return c.reading().ending(ctx, r, follow, outcome)
}

// reading is the log of one run, as far as it has been read: a run that goes on meanwhile is not read from its start again.
type reading struct {
	closer
	n  *run.Normaliser
	at EventSeq
}

func (c closer) reading() *reading { return &reading{closer: c, n: run.New(run.Options{})} }

// ending is closer.ending for the run as it is now.
func (c *reading) ending(ctx context.Context, r Run, follow []Entry, outcome run.Outcome) ([]Entry, error) {
	if err := c.replay(ctx, r.ID, r.LastEventSeq); err != nil {
		return nil, err
	}
	n := c.n.Copy()
	for _, e := range follow {
		observe(n, e.Type, e.Body.Payload)
	}
	var entries []Entry
	for _, candidate := range n.Close(outcome) {
		spilled, err := candidate.Spill(spillBytes, func(value []byte) (event.BlobRef, error) {
			return c.blobs.keep(ctx, r.Edge, value)
		})
		if err != nil {
			return nil, fmt.Errorf("close run %s: %w", r.ID, err)
		}
		entry, err := own(spilled, now())
		if err != nil {
			return nil, fmt.Errorf("close run %s: %w", r.ID, err)
		}
		if said, ok := candidate.Payload.(event.MessageCompletedPayload); ok && said.Content != "" && said.AgentID == "" {
			entry.Said = &Said{Message: said.MessageID, Text: shorten(said.Content)}
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

func (c *reading) replay(ctx context.Context, runID id.Run, last EventSeq) error {
	for c.at < last {
		page, _, err := c.events.Events(ctx, runID, c.at, logPage)
		if err != nil {
			return fmt.Errorf("read log of %s: %w", runID, err)
		}
		if len(page) == 0 {
			return fmt.Errorf("read log of %s: it ends at %d, expected %d", runID, c.at, last)
		}
		for _, e := range page {
			if e.Seq <= last {
				observe(c.n, e.Type, e.Payload)
				c.at = e.Seq
			}
		}
	}
	return nil
}

// observe passes over events of a shape that the normaliser cannot read: they opened nothing that it could close.
func observe(n *run.Normaliser, t event.Type, payload []byte) {
	n.Observe(t, payload) //nolint:errcheck // see above
}
