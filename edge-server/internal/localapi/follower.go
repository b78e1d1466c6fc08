package localapi

import (
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/eventsocket"
	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// pageRows is how many rows of the journal are in memory for one program.
const pageRows = 256

// follower is one program's place in the journal. It has no queue: the log is on disk, so replay and live are the same loop, and a program
// that is slow is read for more slowly instead of losing anything. Only rows that were trimmed make a gap.
type follower struct {
	journal   *journal.Journal
	edge      id.Edge
	metrics   *metrics
	numbering wire.Incarnation
	next      wire.ProducerSeq
}

// run sends rows in order, exactly as they are stored, until ctx ends.
func (f *follower) run(ctx context.Context, send eventsocket.Send) error {
	for {
		grown := f.journal.Appended() // before reading, to miss nothing
		page, err := f.journal.ReadPage(ctx, f.next, pageRows)
		if err != nil {
			return err
		}
		if page.Incarnation != f.numbering {
			return &eventsocket.End{Code: eventsocket.Reset, Reason: "the journal's numbers began anew: take a snapshot, then follow without a cursor"}
		}
		if err := f.forward(page, send); err != nil {
			return err
		}
		if len(page.Rows) > 0 {
			continue
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return nil
		}
	}
}

func (f *follower) forward(page journal.Page, send eventsocket.Send) error {
	if page.First > f.next {
		if err := f.skip(page.First, send); err != nil {
			return err
		}
	}
	for _, row := range page.Rows {
		if err := send(row); err != nil {
			return err
		}
		f.next++
		f.metrics.sent.Inc()
	}
	return nil
}

// skip says which rows are gone.
func (f *follower) skip(to wire.ProducerSeq, send eventsocket.Send) error {
	message, err := gap{First: f.next, Last: to - 1, Count: uint64(to - f.next)}.message(f.edge, time.Now())
	if err != nil {
		return err
	}
	f.next = to
	f.metrics.gaps.Inc()
	return send(message)
}
