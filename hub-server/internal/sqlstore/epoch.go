package sqlstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/wire"
)

// ErrEpochChanged ends a Writer whose PostgreSQL server turned into another one under it, by restore or promotion. Start the hub again.
var ErrEpochChanged = errors.New("the store is not the one this hub was started with")

// Epoch is the random id of this life of the store: cursors of another epoch are void. RemakeEpoch changes it.
func (s *Store) Epoch() wire.Epoch { return *s.epoch.Load() }

// RemakeEpoch begins a new life of the store, because rows that were promised to an edge are missing from it. Cursors made before are
// void from now on.
func (s *Store) RemakeEpoch(ctx context.Context) (wire.Epoch, error) {
	if _, err := s.writeDB.ExecContext(ctx, `UPDATE store_counter SET epoch = $1 WHERE id = 1`, newEpoch()); err != nil {
		return "", fmt.Errorf("remake epoch: %w", err)
	}
	if err := s.loadEpoch(ctx); err != nil {
		return "", err
	}
	return s.Epoch(), nil
}

// openEpoch reads the store's epoch and makes it on the very first start; of several hubs one wins.
func (s *Store) openEpoch(ctx context.Context) error {
	const insert = `INSERT INTO store_counter (id, epoch, outbox_pos) VALUES (1, $1, 0) ON CONFLICT (id) DO NOTHING`
	if _, err := s.writeDB.ExecContext(ctx, insert, newEpoch()); err != nil {
		return err
	}
	return s.loadEpoch(ctx)
}

func (s *Store) loadEpoch(ctx context.Context) error {
	conn, err := s.writeDB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // only goes back to the pool
	epoch, err := s.dialect.readEpoch(ctx, conn)
	if err != nil {
		return err
	}
	s.epoch.Store(&epoch)
	return nil
}

// readEpoch reads the stored id. On PostgreSQL the server's identity and timeline are part of the epoch: a promoted standby has the same
// rows up to a point, and then others. A store in a format that this program does not know fails with ErrFormatNewer.
func (d dialect) readEpoch(ctx context.Context, conn *sql.Conn) (wire.Epoch, error) {
	var stored string
	var format Format
	if err := conn.QueryRowContext(ctx, `SELECT epoch, format FROM store_counter WHERE id = 1`).Scan(&stored, &format); err != nil {
		return "", fmt.Errorf("read epoch: %w", err)
	}
	if err := format.check(); err != nil {
		return "", err
	}
	if stored == halfRestored {
		return "", ErrHalfRestored
	}
	if d.identity == "" {
		return wire.Epoch(stored), nil
	}
	var server string
	if err := conn.QueryRowContext(ctx, d.identity).Scan(&server); err != nil {
		return "", fmt.Errorf("read identity of the server: %w", err)
	}
	sum := sha256.Sum256([]byte(stored + "/" + server))
	return wire.Epoch(hex.EncodeToString(sum[:8])), nil
}

func newEpoch() string {
	raw := make([]byte, 8)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	return hex.EncodeToString(raw)
}

// RemakeEpoch implements runlog.LaneStore.
func (r *Runlog) RemakeEpoch(ctx context.Context) (wire.Epoch, error) {
	return r.store.RemakeEpoch(ctx)
}
