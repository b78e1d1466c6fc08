package journal

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/shared/durable"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed schema.sql
var schema string

const (
	format   = 1 // of the file, kept in PRAGMA user_version
	fileName = "journal.db"
	lockName = "journal.lock"
)

// database is the file with its two ways in. SQLite allows one writer: writeDB has a single connection, used by the writer only.
type database struct {
	lock    *os.File
	writeDB *sql.DB
	readDB  *sql.DB
	// Statements that the uplink runs for every frame and every receipt: to prepare one costs more than to run it.
	readRows, readChain *sql.Stmt
}

// FULL: a committed transaction survives power loss. Checkpoints are Maintain's; the automatic one is a backstop at 32 MiB.
const pragmas = "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)" +
	"&_pragma=wal_autocheckpoint(8000)&_pragma=temp_store(MEMORY)&_txlock=immediate"

// openDatabase makes the folder if needed, takes the lock and brings the schema up to date.
func openDatabase(ctx context.Context, home string) (*database, error) {
	if err := durable.MakeFolder(home); err != nil {
		return nil, fmt.Errorf("make home folder: %w", err)
	}
	lock, err := lockFile(ctx, filepath.Join(home, lockName))
	if err != nil {
		return nil, err
	}
	db := &database{lock: lock}
	if err := makePrivate(filepath.Join(home, fileName)); err != nil {
		return nil, errors.Join(err, db.close())
	}
	file := url.URL{Path: filepath.Join(home, fileName)} // a folder may be called anything
	path := "file:" + file.EscapedPath() + pragmas
	if db.writeDB, err = sql.Open("sqlite", path); err == nil {
		db.writeDB.SetMaxOpenConns(1)
		db.readDB, err = sql.Open("sqlite", path+"&_pragma=query_only(1)")
	}
	if err == nil {
		db.readDB.SetMaxOpenConns(4)
		db.readDB.SetMaxIdleConns(4)
		err = db.migrate(ctx)
	}
	if err == nil {
		err = db.prepare(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open journal: %w", err), db.close())
	}
	return db, nil
}

// makePrivate makes the file, if it is not there, readable by its owner alone before SQLite opens it: the files that SQLite puts beside it
// take over its mode.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("make journal: %w", err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return fmt.Errorf("make journal private: %w", err)
	}
	return nil
}

func (db *database) migrate(ctx context.Context) error {
	var found int
	if err := db.writeDB.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found); err != nil {
		return fmt.Errorf("read format: %w", err)
	}
	switch {
	case found == format:
		return nil
	case found > format:
		return fmt.Errorf("its format %d is newer than this program's %d: use the newer edge-server", found, format)
	}
	tx, err := db.writeDB.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d;", format)); err != nil {
		return fmt.Errorf("make tables: %w", err)
	}
	return tx.Commit()
}

func (db *database) prepare(ctx context.Context) (err error) {
	if db.readRows, err = db.readDB.PrepareContext(ctx, readRows); err != nil {
		return fmt.Errorf("prepare to read rows: %w", err)
	}
	if db.readChain, err = db.readDB.PrepareContext(ctx, readChain); err != nil {
		return fmt.Errorf("prepare to read the chain: %w", err)
	}
	return nil
}

func (db *database) close() error {
	var errs []error
	for _, statement := range []*sql.Stmt{db.readRows, db.readChain} {
		if statement != nil {
			errs = append(errs, statement.Close())
		}
	}
	for _, pool := range []*sql.DB{db.readDB, db.writeDB} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(append(errs, db.lock.Close())...) // closing it gives the lock back
}

// diskFull says whether SQLite ran out of space.
func diskFull(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL
}

// diskTrouble says whether SQLite itself failed, rather than the statement that it was given.
func diskTrouble(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff != sqlite3.SQLITE_CONSTRAINT
}
