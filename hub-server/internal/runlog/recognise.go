package runlog

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// recognise marks the rows whose events are in the logs of their runs already. An edge whose disk was put back from a copy numbers anew, in
// another incarnation, what the copy did not know to be committed: the watermark says nothing about those rows, the ids of their events do.
func (l *Lanes) recognise(ctx context.Context, f LaneFrame) error {
	if !f.Lane.Successor {
		return nil
	}
	for _, runID := range f.Runs() {
		var events []id.Event
		for _, row := range f.Rows {
			if row.Run == runID {
				events = append(events, row.Entry.ID)
			}
		}
		known, err := l.store.KnownEvents(ctx, f.Lane, runID, events)
		if err != nil {
			return fmt.Errorf("look for events of %s: %w", runID, err)
		}
		for i := range f.Rows {
			row := &f.Rows[i]
			row.Again = row.Again || row.Run == runID && row.Refused == "" && known[row.Entry.ID]
		}
		if len(known) > 0 {
			l.metrics.repeated.Add(float64(len(known)))
			l.log.Info("an edge sent events again under other numbers", "edge", f.Lane.Edge, "run", runID, "events", len(known))
		}
	}
	return nil
}
