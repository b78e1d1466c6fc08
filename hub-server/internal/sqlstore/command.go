package sqlstore

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// A command's place in its edge's order is taken under the edge's lane lock.
const insertCommandSQL = `
INSERT INTO edge_commands (delivery_id, edge_id, place, run_id, kind, lease, body, signature, state, receipt_status, receipt_code,
    receipt_detail, created_at, receipt_at)
SELECT $1, $2, 1 + COALESCE(MAX(place), 0), $3, $4, $5, $6, $7, 'pending', '', '', '', $8, 0
FROM edge_commands WHERE edge_id = $2`

// insertCommand queues a signed command behind all others of its edge, and wakes the edge.
func (t *Tx) insertCommand(ctx context.Context, edge id.Edge, c wire.Command) error {
	_, err := t.Exec(ctx, insertCommandSQL, string(c.DeliveryID), string(edge), string(c.RunID), string(c.Kind), int64(c.Lease),
		[]byte(c.Body), c.Signature, micros(t.now))
	if err != nil {
		return fmt.Errorf("insert command: %w", err)
	}
	t.WakeEdge(edge)
	return nil
}
