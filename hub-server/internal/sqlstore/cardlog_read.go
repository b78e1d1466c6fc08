package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Trace implements cardlog.Store.
func (c *Cards) Trace(ctx context.Context, trace id.Trace) (t cardlog.Trace, err error) {
	const query = `SELECT trace_id, session_id, seq, floor_seq FROM card_traces WHERE trace_id = $1 AND epoch = $2`
	err = c.store.queryRowPrepared(ctx, query, string(trace), string(c.store.Epoch())).Scan(&t.ID, &t.Session, &t.Head, &t.Floor)
	if errors.Is(err, sql.ErrNoRows) {
		return t, fmt.Errorf("%s: %w", trace, cardlog.ErrUnknown)
	}
	if err != nil {
		return t, fmt.Errorf("read trace: %w", err)
	}
	return t, nil
}

// Frames implements cardlog.Store.
func (c *Cards) Frames(ctx context.Context, trace id.Trace, after card.Seq, room int) ([]cards.Frame, error) {
	const query = `SELECT first_seq, frames FROM card_frames WHERE trace_id = $1 AND last_seq > $2 ORDER BY last_seq LIMIT 64`
	var found []cards.Frame
	rows, err := c.store.queryPrepared(ctx, query, string(trace), int64(after)) //nolint:gosec // numbers of frames fit
	err = scanAll(rows, err, func(row Scanner) error {
		var seq card.Seq
		var lines []byte
		if err := row.Scan(&seq, &lines); err != nil {
			return err
		}
		for ; len(lines) > 0; seq++ {
			end := bytes.IndexByte(lines, '\n') + 1
			if end == 0 {
				return fmt.Errorf("frame %d of trace %s has no end", seq, trace)
			}
			line := lines[:end:end]
			if lines = lines[end:]; seq <= after {
				continue
			}
			if room <= 0 {
				return errFull
			}
			found, room = append(found, cards.Frame{Seq: seq, Bytes: line}), room-len(line)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFull) {
		return nil, fmt.Errorf("read frames of %s behind %d: %w", trace, after, err)
	}
	if len(found) > 0 && found[0].Seq == after+1 {
		return found, nil
	}
	// Nothing is behind, or what comes first has left: the floor moves with it.
	t, err := c.Trace(ctx, trace)
	switch {
	case err != nil:
		return nil, err
	case after < t.Floor:
		return nil, fmt.Errorf("read %s behind %d: %w", trace, after, cardlog.ErrExpired)
	case len(found) > 0:
		return nil, fmt.Errorf("trace %s has no frame %d", trace, after+1)
	}
	return nil, nil
}

// Pending implements cardlog.Store.
func (c *Cards) Pending(ctx context.Context, session id.Session) ([]cards.Frame, error) {
	const query = `
SELECT p.request_id, c.seq, f.first_seq, f.frames FROM prompts p JOIN runs r ON r.run_id = p.run_id
  JOIN card_prompts c ON c.request_id = p.request_id JOIN card_traces t ON t.trace_id = c.trace_id AND t.session_id = r.session_id
  JOIN card_frames f ON f.trace_id = c.trace_id
   AND f.last_seq = (SELECT MIN(g.last_seq) FROM card_frames g WHERE g.trace_id = c.trace_id AND g.last_seq >= c.seq)
WHERE r.session_id = $1 AND p.state = 'pending' AND ` + asksPerson + ` ORDER BY p.asked_at, p.run_id, p.event_seq`
	rows, err := c.store.queryPrepared(ctx, query, string(session))
	found, err := collect(rows, err, func(row Scanner) (f cards.Frame, err error) {
		var first card.Seq
		var lines []byte
		if err := row.Scan(&f.Request, &f.Seq, &first, &lines); err != nil {
			return f, err
		}
		for ; first <= f.Seq && len(lines) > 0; first++ {
			end := bytes.IndexByte(lines, '\n') + 1
			f.Bytes, lines = lines[:end:end], lines[end:]
		}
		return f, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read open questions of %s: %w", session, err)
	}
	return found, nil
}
