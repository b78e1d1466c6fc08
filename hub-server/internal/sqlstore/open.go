package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
)

// FULL: a committed transaction survives power loss. Checkpoints are the Checkpointer's, so that no commit pays for one.
const (
	sqliteWrite = "_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" +
		"&_pragma=wal_autocheckpoint(0)&_pragma=temp_store(MEMORY)"
	sqliteRead = "_pragma=busy_timeout(10000)&_pragma=temp_store(MEMORY)&_pragma=query_only(1)"
)

// openBare opens the store at address for writing, whatever state its schema is in.
func openBare(address string) (*Store, error) {
	if isPostgres(address) {
		return openPostgres(address)
	}
	return openSQLite(address)
}

// ErrSchemaOld is returned for a store whose schema is older than this program's.
var ErrSchemaOld = errors.New("the store's schema is not up to date; run hub-server migrate, or start the hub")

// OpenBeside opens a store for reading only, beside the hubs that use it. Its schema must be up to date: ErrSchemaOld.
func OpenBeside(ctx context.Context, address string) (*Store, error) {
	s, _, err := openCurrent(ctx, address)
	return s, err
}

func openCurrent(ctx context.Context, address string) (*Store, Schema, error) {
	s, err := openBeside(address)
	if err != nil {
		return nil, Schema{}, err
	}
	schema, err := s.schema(ctx)
	if err == nil && schema.Have < schema.Want {
		err = fmt.Errorf("%w (it has %d, this program %d)", ErrSchemaOld, schema.Have, schema.Want)
	}
	if err != nil {
		s.Close() //nolint:errcheck // the first error is the one to report
		return nil, schema, err
	}
	return s, schema, nil
}

// openBeside opens a store for reading only, beside the hubs that use it: nothing is locked or made.
func openBeside(address string) (*Store, error) {
	if isPostgres(address) {
		return openPostgres(address)
	}
	switch _, err := os.Stat(address); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("find store: %w; set HUB_HOME to the folder of the hub, or HUB_DATABASE_URL to its database", err)
	case err != nil:
		return nil, fmt.Errorf("find store: %w", err)
	}
	s := &Store{dialect: sqlite, release: func() error { return nil }, path: address}
	var err error
	if s.readDB, err = sql.Open("sqlite", sqliteDSN(address, sqliteRead)); err != nil {
		return nil, fmt.Errorf("open sqlite: %w", err)
	}
	return s, nil
}

func isPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

func openPostgres(address string) (*Store, error) {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(8)
	return &Store{dialect: postgres, readDB: db, writeDB: db, release: func() error { return nil }}, nil
}

func openSQLite(path string) (*Store, error) {
	release, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	s := &Store{dialect: sqlite, release: release, path: path}
	if err := createPrivate(path); err != nil {
		s.Close() //nolint:errcheck // the first error is the one to report
		return nil, err
	}
	if s.writeDB, err = sql.Open("sqlite", sqliteDSN(path, sqliteWrite)); err == nil {
		s.readDB, err = sql.Open("sqlite", sqliteDSN(path, sqliteRead))
	}
	if err != nil {
		s.Close() //nolint:errcheck // the first error is the one to report
		return nil, fmt.Errorf("open sqlite: %w", err)
	}
	s.readDB.SetMaxOpenConns(8)
	s.readDB.SetMaxIdleConns(8)
	return s, nil
}

// createPrivate makes the file before SQLite does, readable by its owner alone (SEC27); the WAL beside it gets the same mode.
func createPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("create store: %w", err)
	}
	return f.Close()
}

// sqliteDSN keeps `?`, `#` and `%` of a path from being read as parts of the URI.
func sqliteDSN(path, pragmas string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + pragmas
}
