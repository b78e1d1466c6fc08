package sqlstore

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/frames"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// readRows runs a statement over a list of rows, with as few calls as possible; args holds the rows one after the other. An answer is one
// snapshot for each call.
func readRows[T any](ctx context.Context, s *Store, b bulk, args []any, scan func(Scanner) (T, error)) (found []T, err error) {
	err = b.each(args, func(size int, args []any) error {
		rows, err := s.queryPrepared(ctx, b.text(s.dialect.numbered, size), args...)
		some, err := collect(rows, err, scan)
		found = append(found, some...)
		return err
	})
	return found, err
}

var selectMessagesByID = bulk{begin: `SELECT ` + messageColumns + ` FROM messages WHERE id IN (`, width: 1, end: `)`}

// MessagesByID implements frames.Record, whoever may read them.
func (c *Chat) MessagesByID(ctx context.Context, messages []id.Message) ([]chat.Message, error) {
	return readRows(ctx, c.store, selectMessagesByID, textArgs(messages), scanMessage)
}

var selectHeaders = bulk{begin: `SELECT run_id, session_id, agent_id, trace_id FROM runs WHERE run_id IN (`, width: 1, end: `)`}

// Headers implements frames.Record.
func (r *Runlog) Headers(ctx context.Context, runs []id.Run) ([]frames.Header, error) {
	return readRows(ctx, r.store, selectHeaders, textArgs(runs), func(row Scanner) (h frames.Header, err error) {
		err = row.Scan(&h.Run, &h.Session, &h.Agent, &h.TraceID)
		return h, err
	})
}

// selectStretches leaves out what is leaving: the floor moves before the first event goes. A stretch has a SELECT of its own: over a list of
// stretches PostgreSQL cannot tell how little of a log each of them is, and reads all of it. CROSS JOIN keeps SQLite to this order.
var selectStretches = bulk{width: 3, one: `
SELECT ` + eventColumns + `
FROM runs r CROSS JOIN run_events e LEFT JOIN lanes l ON l.lane_id = e.lane_id
WHERE r.run_id = ? AND e.run_id = r.run_id AND e.event_seq >= ? AND e.event_seq <= ? AND e.event_seq > r.floor_seq`}

// Stretches implements frames.Record.
func (r *Runlog) Stretches(ctx context.Context, stretches []frames.Stretch) ([]runlog.StoredEvent, error) {
	args := make([]any, 0, len(stretches)*selectStretches.width)
	for _, s := range stretches {
		args = append(args, string(s.Run), int64(s.From), int64(s.To)) //nolint:gosec // numbers of events fit: the store gave them
	}
	return readRows(ctx, r.store, selectStretches, args, scanEvent)
}

var selectPromptsByID = bulk{begin: selectPrompt + ` WHERE p.request_id IN (`, width: 1, end: `)`}

// PromptsByID implements frames.Record.
func (p *Prompts) PromptsByID(ctx context.Context, requests []id.Request) ([]prompt.Prompt, error) {
	found, err := readRows(ctx, p.store, selectPromptsByID, textArgs(requests), scanPrompt)
	if err != nil {
		return nil, fmt.Errorf("read prompts: %w", err)
	}
	return found, nil
}
