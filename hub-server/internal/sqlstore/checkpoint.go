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
	passiveAbove    = 4 << 20   // bytes of WAL from which it is worth copying into the file
	restartAbove    = 64 << 20  // bytes in use of the WAL from which commits may wait a moment for it to begin anew
	truncateAbove   = 256 << 20 // bytes of WAL from which it is given back to the disk: to cut it, and to let it grow again, takes longer
	// moreRounds is how often the WAL is copied beside the commits once more before they have to wait: each round copies what was committed
	// during the one before, so little is left.
	moreRounds = 3

	walFrame = 24 + 4096 // bytes of a page in the WAL
)

// Checkpointer copies the WAL of a SQLite store into its file beside the commits, so that none of them pays for it. A PostgreSQL store
// looks after itself.
type Checkpointer struct {
	store                      *Store
	log                        *slog.Logger
	passive, restart, truncate int64 // thresholds in bytes
}

// NewCheckpointer returns the checkpointer of s; run exactly one.
func (s *Store) NewCheckpointer(log *slog.Logger) *Checkpointer {
	return &Checkpointer{store: s, log: log, passive: passiveAbove, restart: restartAbove, truncate: truncateAbove}
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
// alone, it lets it begin anew, or cuts it: that holds commits up for the rest that is left to copy, and gives up after a moment if a reader
// is in the way.
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
	used, err := runCheckpoint(ctx, conn, "PASSIVE")
	if err != nil || size < c.truncate && used < c.restart {
		return err
	}
	for range moreRounds {
		if _, err := runCheckpoint(ctx, conn, "PASSIVE"); err != nil {
			return err
		}
	}
	mode := "RESTART"
	if size >= c.truncate {
		mode = "TRUNCATE"
	}
	_, err = runCheckpoint(ctx, conn, mode)
	return err
}

// runCheckpoint returns how many bytes of the WAL were in use. It ignores whether the checkpoint got everywhere: the next one goes on.
func runCheckpoint(ctx context.Context, conn *sql.Conn, mode string) (used int64, err error) {
	var busy, frames, copied int64
	if err := conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(`+mode+`)`).Scan(&busy, &frames, &copied); err != nil {
		return 0, fmt.Errorf("checkpoint %s: %w", mode, err)
	}
	return frames * walFrame, nil
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
