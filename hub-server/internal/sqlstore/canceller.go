package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// CancelledBy implements frames.Record: who asked first.
func (s *Store) CancelledBy(ctx context.Context, run id.Run) (id.User, error) {
	const query = `SELECT payload FROM run_events WHERE run_id = $1 AND event_type = $2 ORDER BY event_seq LIMIT 1`
	var payload []byte
	err := s.readDB.QueryRowContext(ctx, query, string(run), string(event.RunCancelling)).Scan(&payload)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read run.cancelling: %w", err)
	}
	var p event.RunCancellingPayload
	if err := json.Unmarshal(payload, &p); err != nil {
		return "", fmt.Errorf("read run.cancelling: %w", err)
	}
	return p.RequestedBy, nil
}
