package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"time"
)

const (
	checkpointEvery = time.Second
	passiveAbove    = 4 << 20  // bytes of WAL from which it is worth copying into the file
	truncateAbove   = 64 << 20 // bytes of WAL from which commits may wait a moment for it to be cut
)

// Checkpointer copies the WAL of a SQLite store into its file beside the commits, so that none of them pays for it. A PostgreSQL store
// looks after itself.
type Checkpointer struct {
	store             *Store
	log               *slog.Logger
	passive, truncate int64 // thresholds in bytes
}

// NewCheckpointer returns the checkpointer of s; run exactly one.
func (s *Store) NewCheckpointer(log *slog.Logger) *Checkpointer {
	return &Checkpointer{store: s, log: log, passive: passiveAbove, truncate: truncateAbove}
}

// Run checkpoints until ctx ends. A checkpoint that fails is logged and tried again.
func (c *Checkpointer) Run(ctx context.Context) error {
	if c.store.path == "" {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := c.checkpoint(ctx); err != nil && ctx.Err() == nil {
			c.log.Error("checkpoint failed", "error", err)
		}
	}
}

// checkpoint copies what it can without holding anybody up. If the WAL is too long even so, because commits and readers never leave it
// alone, it cuts it: that holds commits up for the rest that is left to copy, and gives up after a moment if a reader is in the way.
func (c *Checkpointer) checkpoint(ctx context.Context) error {
	size, err := c.walSize()
	if err != nil || size < c.passive {
		return err
	}
	conn, err := c.store.writeDB.Conn(ctx)
	if err != nil {
		return err
	}
	defer discard(conn) // it has a busy timeout of its own
	if _, err := conn.ExecContext(ctx, `PRAGMA busy_timeout = 50`); err != nil {
		return fmt.Errorf("set patience: %w", err)
	}
	if err := runCheckpoint(ctx, conn, `PRAGMA wal_checkpoint(PASSIVE)`); err != nil {
		return err
	}
	if size < c.truncate {
		return nil
	}
	return runCheckpoint(ctx, conn, `PRAGMA wal_checkpoint(TRUNCATE)`)
}

// runCheckpoint ignores whether the checkpoint got everywhere: the next one goes on.
func runCheckpoint(ctx context.Context, conn *sql.Conn, pragma string) error {
	var busy, frames, copied int
	if err := conn.QueryRowContext(ctx, pragma).Scan(&busy, &frames, &copied); err != nil {
		return fmt.Errorf("%s: %w", pragma, err)
	}
	return nil
}

func (c *Checkpointer) walSize() (int64, error) {
	info, err := os.Stat(c.store.path + "-wal")
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("size of the WAL: %w", err)
	}
	return info.Size(), nil
}
