package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/peer"
)

// Peers keeps the list of hub processes: peer.Store.
type Peers struct {
	store  *Store
	writer *Writer
	reads  Format // what is announced
}

var _ peer.Store = (*Peers)(nil)

// NewPeers reads from s and writes through w.
func NewPeers(s *Store, w *Writer) *Peers { return &Peers{store: s, writer: w, reads: newestFormat} }

// lockHubs keeps a hub from getting on the list while the format is raised without it.
func lockHubs() Lock { return LockAccount("hubs") }

// Announce implements peer.Store.
func (p *Peers) Announce(ctx context.Context, id peer.ID, started time.Time) error {
	return p.writer.Do(ctx, []Lock{lockHubs()}, func(ctx context.Context, tx *Tx) error {
		const beat = `
INSERT INTO hubs (hub_id, started_at, seen_at, beat, reads_format) VALUES ($1, $2, $3, 1, $4)
ON CONFLICT (hub_id) DO UPDATE SET beat = hubs.beat + 1, seen_at = excluded.seen_at`
		if _, err := tx.Exec(ctx, beat, string(id), micros(started), micros(tx.now), int64(p.reads)); err != nil {
			return fmt.Errorf("announce: %w", err)
		}
		_, err := tx.format(ctx)
		return err
	})
}

// Peers implements peer.Store.
func (p *Peers) Peers(ctx context.Context) ([]peer.Peer, error) {
	rows, err := p.store.readDB.QueryContext(ctx, `SELECT hub_id, beat, reads_format FROM hubs ORDER BY started_at, hub_id`)
	return collect(rows, err, func(row Scanner) (found peer.Peer, err error) {
		err = row.Scan(&found.ID, &found.Beat, &found.Reads)
		return found, err
	})
}

// Forget implements peer.Store.
func (p *Peers) Forget(ctx context.Context, gone peer.Peer) (forgotten bool, err error) {
	err = p.writer.Do(ctx, []Lock{lockHubs()}, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM hubs WHERE hub_id = $1 AND beat = $2`, string(gone.ID), gone.Beat)
		forgotten = n > 0
		return err
	})
	return err == nil && forgotten, err
}

// Leave implements peer.Store.
func (p *Peers) Leave(ctx context.Context, id peer.ID) error {
	return p.writer.Do(ctx, []Lock{lockHubs()}, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM hubs WHERE hub_id = $1`, string(id))
		return err
	})
}
