package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

var _ runlog.HeraldStore = (*Runlog)(nil)

// Told implements runlog.HeraldStore.
func (r *Runlog) Told(ctx context.Context) ([]runlog.Told, error) {
	rows, err := r.store.readDB.QueryContext(ctx, `SELECT session_id, topic FROM told_topics ORDER BY session_id, topic`)
	return collect(rows, err, func(row Scanner) (t runlog.Told, err error) {
		err = row.Scan(&t.Session, &t.Topic)
		return t, err
	})
}

// Tell implements runlog.HeraldStore. The lock of the conversation decides between two hubs.
func (r *Runlog) Tell(ctx context.Context, t runlog.Told, runID id.Run, last runlog.EventSeq, notice runlog.Entry) (told bool, err error) {
	err = r.writer.Do(ctx, lockSetOf(t.Session, runID), func(ctx context.Context, tx *Tx) error {
		told, err = tx.tell(ctx, t, runID, last, notice)
		return err
	})
	return err == nil && told, err
}

func (t *Tx) tell(ctx context.Context, topic runlog.Told, runID id.Run, last runlog.EventSeq, notice runlog.Entry) (bool, error) {
	var before int
	const known = `SELECT COUNT(*) FROM told_topics WHERE session_id = $1 AND topic = $2`
	if err := t.QueryRow(ctx, known, string(topic.Session), topic.Topic).Scan(&before); err != nil {
		return false, fmt.Errorf("read what was told: %w", err)
	}
	if before > 0 {
		return true, nil
	}
	appended, err := t.appendOwn(ctx, runID, last, []runlog.Entry{notice})
	if err != nil || !appended {
		return false, err
	}
	const remember = `INSERT INTO told_topics (session_id, topic, run_id, told_at) VALUES ($1, $2, $3, $4)`
	if _, err := t.Exec(ctx, remember, string(topic.Session), topic.Topic, string(runID), micros(time.Now())); err != nil {
		return false, fmt.Errorf("remember what was told: %w", err)
	}
	return true, nil
}

// Forget implements runlog.HeraldStore.
func (r *Runlog) Forget(ctx context.Context, over []runlog.Told) error {
	return r.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		for _, t := range over {
			const forget = `DELETE FROM told_topics WHERE session_id = $1 AND topic = $2`
			if _, err := tx.Exec(ctx, forget, string(t.Session), t.Topic); err != nil {
				return fmt.Errorf("forget what was told: %w", err)
			}
		}
		return nil
	})
}
