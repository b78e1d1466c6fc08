// Package sqlstore keeps the hub's record in SQLite or PostgreSQL. One portable set of statements serves both through
// database/sql; one contract suite holds both to the same behaviour. Reads go through Store, writes through its Writer.
package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // database/sql driver "pgx"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
	_ "modernc.org/sqlite" // database/sql driver "sqlite"
)

const writeQueue = 1024 // requests that wait for the writer; beyond it callers block

// Store is an open database. It is safe for concurrent use.
type Store struct {
	dialect dialect
	readDB  *sql.DB
	reads   preparedReads // on readDB
	writeDB *sql.DB
	path    string       // of the SQLite file
	release func() error // unlocks the SQLite file
	epoch   atomic.Pointer[wire.Epoch]
}

// Open opens the store at address and brings its schema up to date: a PostgreSQL URL (`postgres://…`), or the path of a
// SQLite file that this process then owns alone.
func Open(ctx context.Context, address string) (*Store, error) {
	s, err := openBare(address)
	if err != nil {
		return nil, err
	}
	return s.prepare(ctx)
}

// prepare migrates and reads the epoch; on failure it closes what was opened.
func (s *Store) prepare(ctx context.Context) (*Store, error) {
	if err := s.migrate(ctx); err != nil {
		s.Close() //nolint:errcheck // the first error is the one to report
		return nil, fmt.Errorf("migrate %s: %w", s.dialect.name, err)
	}
	if err := s.openEpoch(ctx); err != nil {
		s.Close() //nolint:errcheck // the first error is the one to report
		return nil, fmt.Errorf("read epoch: %w", err)
	}
	if err := s.crossOffDead(ctx); err != nil {
		s.Close() //nolint:errcheck // the first error is the one to report
		return nil, err
	}
	return s, nil
}

// crossOffDead empties the list of hubs of a SQLite file: its lock says that no other process uses it, so whoever is on the list has died.
func (s *Store) crossOffDead(ctx context.Context) error {
	if s.path == "" {
		return nil
	}
	if _, err := s.writeDB.ExecContext(ctx, `DELETE FROM hubs`); err != nil {
		return fmt.Errorf("clear list of hubs: %w", err)
	}
	return nil
}

// NewWriter returns the writer of one hub process. committed is called after each commit that others may want to hear of, from the
// writer's goroutine: it must not block.
func (s *Store) NewWriter(log *slog.Logger, reg *telemetry.Registry, committed func(Committed)) *Writer {
	return &Writer{
		store: s, log: log, requests: make(chan *request, writeQueue), stopped: make(chan struct{}),
		committed: committed, metrics: newWriterMetrics(reg), bulks: map[bulkKey]string{},
	}
}

// Close closes the database; a second call does nothing. Stop the writers first.
func (s *Store) Close() error {
	first := s.reads.close()
	for _, db := range []*sql.DB{s.readDB, s.writeDB} {
		if db == nil {
			continue
		}
		if err := db.Close(); err != nil && first == nil {
			first = err
		}
	}
	if err := s.release(); err != nil && first == nil {
		first = err
	}
	return first
}

// discard closes the connection itself instead of returning it to the pool.
func discard(conn *sql.Conn) {
	conn.Raw(func(any) error { return driver.ErrBadConn }) //nolint:errcheck // that is how database/sql is told to drop it
	conn.Close()                                           //nolint:errcheck // already gone
}

func micros(t time.Time) int64 { return t.UnixMicro() }

func fromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

// fromZero reads a time that is 0 until it is known.
func fromZero(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return fromMicros(us)
}
