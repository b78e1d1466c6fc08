// Package sqlstore keeps the hub's record in SQLite or PostgreSQL. One portable set of statements serves both through
// database/sql; one contract suite holds both to the same behaviour. Reads go through Store, writes through its Writer.
package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // database/sql driver "pgx"
	"github.com/pressly/goose/v3"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/wire"
	_ "modernc.org/sqlite" // database/sql driver "sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

const writeQueue = 1024 // requests that wait for the writer; beyond it callers block

// Store is an open database. It is safe for concurrent use.
type Store struct {
	dialect dialect
	readDB  *sql.DB
	writeDB *sql.DB
	release func() error // unlocks the SQLite file
	epoch   wire.Epoch
}

// Open opens the store named by url and brings its schema up to date: a PostgreSQL URL (`postgres://…`), or the path of a
// SQLite file that this process then owns alone.
func Open(ctx context.Context, url string) (*Store, error) {
	if strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://") {
		return openPostgres(ctx, url)
	}
	return openSQLite(ctx, url)
}

func openPostgres(ctx context.Context, url string) (*Store, error) {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(8)
	s := &Store{dialect: postgres, readDB: db, writeDB: db, release: func() error { return nil }}
	return s.prepare(ctx)
}

// FULL: a committed transaction survives power loss. Checkpoints are the Checkpointer's, so that no commit pays for one.
const sqlitePragmas = "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)" +
	"&_pragma=foreign_keys(1)&_pragma=wal_autocheckpoint(0)&_pragma=temp_store(MEMORY)"

func openSQLite(ctx context.Context, path string) (*Store, error) {
	release, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	s := &Store{dialect: sqlite, release: release}
	if s.writeDB, err = sql.Open("sqlite", "file:"+path+sqlitePragmas); err == nil {
		s.readDB, err = sql.Open("sqlite", "file:"+path+sqlitePragmas+"&_pragma=query_only(1)")
	}
	if err != nil {
		return nil, fmt.Errorf("open sqlite: %w", err)
	}
	s.readDB.SetMaxOpenConns(8)
	s.readDB.SetMaxIdleConns(8)
	return s.prepare(ctx)
}

// prepare migrates and reads the epoch; on failure it closes what was opened.
func (s *Store) prepare(ctx context.Context) (*Store, error) {
	if err := s.migrate(ctx); err != nil {
		s.Close() //nolint:errcheck // the first error is the one to report
		return nil, fmt.Errorf("migrate %s: %w", s.dialect.name, err)
	}
	if err := s.loadEpoch(ctx); err != nil {
		s.Close() //nolint:errcheck // the first error is the one to report
		return nil, fmt.Errorf("read epoch: %w", err)
	}
	return s, nil
}

func (s *Store) migrate(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(s.dialect.goose, s.writeDB, files)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// loadEpoch reads the store's epoch and makes it on the very first start; of several hubs one wins.
func (s *Store) loadEpoch(ctx context.Context) error {
	raw := make([]byte, 8)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	const insert = `INSERT INTO store_counter (id, epoch, outbox_pos) VALUES (1, $1, 0) ON CONFLICT (id) DO NOTHING`
	if _, err := s.writeDB.ExecContext(ctx, insert, hex.EncodeToString(raw)); err != nil {
		return err
	}
	var epoch string
	err := s.writeDB.QueryRowContext(ctx, `SELECT epoch FROM store_counter WHERE id = 1`).Scan(&epoch)
	s.epoch = wire.Epoch(epoch)
	return err
}

// Epoch is the random id of this life of the store: cursors of another epoch are void.
func (s *Store) Epoch() wire.Epoch { return s.epoch }

// NewWriter returns the writer of one hub process; committed is called after each commit that grew the outbox, from the
// writer's goroutine, and must not block.
func (s *Store) NewWriter(log *slog.Logger, m Registry, committed func(delivery.Position)) *Writer {
	return &Writer{
		store: s, log: log, requests: make(chan *request, writeQueue), stopped: make(chan struct{}),
		committed: committed, metrics: newWriterMetrics(m),
	}
}

// Close closes the database. Stop the writers first.
func (s *Store) Close() error {
	var first error
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
