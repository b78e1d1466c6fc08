package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	// compactGrace is how long an agent that was told to make its context smaller has to begin before it may be told again.
	compactGrace = time.Minute
	// compactEvents is how many of a run's newest events are looked through for that it has begun: more in that time are taken for no begin.
	compactEvents = 5000
)

// compactsOnce refuses to tell an agent to make its context smaller while it has yet to begin with what it was told before: it would do it twice.
func (t *Tx) compactsOnce(ctx context.Context, o runlog.Order) error {
	const told = `SELECT COALESCE(MAX(CASE WHEN state = 'done' THEN 0 ELSE 1 END), 0), COALESCE(MAX(created_at), 0), COALESCE(MAX(receipt_at), 0)
FROM edge_commands WHERE run_id = $1 AND kind = 'control' AND body = $2
AND (state IN ('pending', 'sent') OR state = 'done' AND receipt_status = $3)`
	var open bool
	var since, accepted int64
	err := t.QueryRow(ctx, told, string(o.Run.ID), []byte(o.Command.Body), string(wire.Accepted)).Scan(&open, &since, &accepted)
	if err != nil {
		return fmt.Errorf("look for an order to compact: %w", err)
	}
	if !open && t.now.Sub(fromMicros(accepted)) >= compactGrace {
		return nil
	}
	if !open {
		const begun = `SELECT 1 FROM (SELECT event_type, recorded_at FROM run_events WHERE run_id = $1 ORDER BY event_seq DESC LIMIT $4) e
WHERE e.event_type = $2 AND e.recorded_at >= $3 LIMIT 1`
		found, err := hasRow(t.QueryRow(ctx, begun, string(o.Run.ID), string(event.CompactionBegin), since, compactEvents))
		if err != nil {
			return fmt.Errorf("look for a compaction: %w", err)
		}
		if found {
			return nil
		}
	}
	return fault.New(fault.Compacting, "%s was told already to make its context smaller. Wait until it has.", o.Run.AgentName)
}
