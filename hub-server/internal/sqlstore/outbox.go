package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
)

var insertOutbox = bulk{
	begin: `
INSERT INTO outbox (pos, audience, kind, frame_type, payload, session_id, message_id, run_id, request_id, from_seq, to_seq, change, change_user, bytes,
    created_at) VALUES `,
	width: 15,
}

// placeOutbox gives the group's rows the next dense positions and writes them. Taking the counter is the last lock of the
// transaction: whoever holds it commits next, so no reader ever sees a position below one that is still to come.
func (t *Tx) placeOutbox(ctx context.Context) error {
	if len(t.pending) == 0 {
		return nil
	}
	const take = `UPDATE store_counter SET outbox_pos = outbox_pos + $1, log_bytes = log_bytes + $2 WHERE id = 1 RETURNING outbox_pos, format`
	head, err := t.take(ctx, take, len(t.pending), t.grown())
	if err != nil {
		return fmt.Errorf("take positions: %w", err)
	}
	first := head - int64(len(t.pending)) + 1
	args := make([]any, 0, len(t.pending)*insertOutbox.width)
	for i := range t.pending {
		r := &t.pending[i]
		r.Position = delivery.Position(first + int64(i))
		args = append(args, int64(r.Position), string(r.Audience), string(r.Kind), r.FrameType, r.Payload, string(r.Session),
			string(r.Message), string(r.Run), string(r.Prompt), int64(r.From), int64(r.To), string(r.Change), string(r.ChangeUser),
			cmp.Or(r.Bytes, len(r.Payload)), micros(t.now))
	}
	if err := t.execRows(ctx, insertOutbox, args); err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	for i := range t.pending {
		if err := t.placeMembership(ctx, &t.pending[i]); err != nil {
			return err
		}
	}
	t.outboxHead = delivery.Position(head)
	return t.placeEnds(ctx, head)
}

// grown is how many bytes of events the group has appended to logs.
func (t *Tx) grown() (bytes int) {
	for i := range t.pending {
		if t.pending[i].Kind == delivery.KindRun {
			bytes += t.pending[i].Bytes
		}
	}
	return bytes
}

// placeEnds notes where in the outbox the last word about runs is that are over.
func (t *Tx) placeEnds(ctx context.Context, head int64) error {
	slices.Sort(t.over)
	for _, over := range slices.Compact(t.over) {
		if _, err := t.Exec(ctx, `UPDATE runs SET log_pos = $2 WHERE run_id = $1`, string(over), head); err != nil {
			return fmt.Errorf("note end of %s: %w", over, err)
		}
	}
	return nil
}

// take moves a number of the store counter on, as the statement says, and returns what it is then.
func (t *Tx) take(ctx context.Context, statement string, by ...any) (head int64, err error) {
	var format Format
	if err := t.QueryRow(ctx, statement, by...).Scan(&head, &format); err != nil {
		return 0, err
	}
	return head, format.check()
}

// placeMembership opens or closes the member's interval at the position of the row that says so.
func (t *Tx) placeMembership(ctx context.Context, r *delivery.Row) (err error) {
	switch r.Change {
	case delivery.Joined:
		_, err = t.Exec(ctx, `INSERT INTO member_intervals (session_id, user_id, from_pos) VALUES ($1, $2, $3)`,
			string(r.Session), string(r.ChangeUser), int64(r.Position))
	case delivery.Left:
		_, err = t.Exec(ctx, `UPDATE member_intervals SET to_pos = $3 WHERE session_id = $1 AND user_id = $2 AND to_pos IS NULL`,
			string(r.Session), string(r.ChangeUser), int64(r.Position))
	}
	return err
}
