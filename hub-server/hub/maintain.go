package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/hub-server/internal/backup"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
)

// Schema is the state of a store's tables, in numbers of migrations.
type Schema = sqlstore.Schema

// BackupHeader says what a backup is of.
type BackupHeader = backup.Header

// Migrate brings the schema of the store up to date and returns what it was before. A hub does so itself when it starts.
func Migrate(ctx context.Context, c Config) (before Schema, err error) {
	if err := makeHome(c); err != nil {
		return before, err
	}
	return sqlstore.Migrate(ctx, c.storeURL())
}

// SchemaOf looks at the store and changes nothing. A SQLite file that is not there is fs.ErrNotExist.
func SchemaOf(ctx context.Context, c Config) (Schema, error) {
	return sqlstore.SchemaOf(ctx, c.storeURL())
}

// Backup writes everything in the store to a new file, as it is at one moment, while hubs go on. The file is there only if it is whole.
func Backup(ctx context.Context, c Config, path string) (header BackupHeader, err error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return header, errors.Join(fmt.Errorf("%s is there already", path), err)
	}
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part") // made with mode 0600
	if err != nil {
		return header, fmt.Errorf("make backup file: %w", err)
	}
	defer os.Remove(part.Name()) //nolint:errcheck // after a success it has another name
	header, err = sqlstore.Backup(ctx, c.storeURL(), part)
	if err == nil {
		err = part.Sync()
	}
	if err := errors.Join(err, part.Close()); err != nil {
		return header, err
	}
	return header, os.Link(part.Name(), path) // unlike a rename it replaces nothing
}

// Restore fills a store that is empty, or not there, with a backup. No hub may run on it yet.
func Restore(ctx context.Context, c Config, path string) (header BackupHeader, err error) {
	if err := makeHome(c); err != nil {
		return header, err
	}
	file, err := os.Open(path)
	if err != nil {
		return header, fmt.Errorf("open backup: %w", err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	return sqlstore.Restore(ctx, c.storeURL(), file)
}
