package sqlstore

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"slices"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versions is the table in which the migrations that were made are kept.
const versions = "goose_db_version"

// Schema is the state of a store's tables, in numbers of migrations. Have is 0 for a store that is not there yet.
type Schema struct {
	Have int64 // newest that was made
	Want int64 // newest that this program knows
}

// Migrate brings the schema of the store at address up to date, as Open does, and returns what it was before.
func Migrate(ctx context.Context, address string) (Schema, error) {
	s, err := openBare(address)
	if err != nil {
		return Schema{}, err
	}
	defer s.Close() //nolint:errcheck // everything is committed
	before, err := s.schema(ctx)
	if err != nil {
		return Schema{}, err
	}
	return before, s.migrate(ctx)
}

// SchemaOf looks at the store at address and changes nothing. Hubs may use it meanwhile. A file that is not there is fs.ErrNotExist.
func SchemaOf(ctx context.Context, address string) (Schema, error) {
	s, err := openBeside(address)
	if err != nil {
		return Schema{}, err
	}
	defer s.Close() //nolint:errcheck // it only read
	return s.schema(ctx)
}

// schema reads what migrations were made, without making anything.
func (s *Store) schema(ctx context.Context) (found Schema, err error) {
	p, err := s.provider()
	if err != nil {
		return found, err
	}
	sources := p.ListSources()
	found.Want = sources[len(sources)-1].Version
	tables, err := s.tables(ctx, s.readDB)
	if err != nil || !slices.Contains(tables, versions) {
		return found, err
	}
	if err := s.readDB.QueryRowContext(ctx, `SELECT max(version_id) FROM `+versions).Scan(&found.Have); err != nil {
		return found, fmt.Errorf("read schema version: %w", err)
	}
	return found, nil
}

// migrate brings the schema up to date.
func (s *Store) migrate(ctx context.Context) error {
	p, err := s.provider()
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// provider knows the migrations. Several hubs may start at once on PostgreSQL: one migrates, the others wait.
func (s *Store) provider() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	opts := []goose.ProviderOption{goose.WithTableName(versions)}
	if s.dialect.advisory {
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120), lock.WithUnlockTimeout(1, 10))
		if err != nil {
			return nil, fmt.Errorf("make migration lock: %w", err)
		}
		opts = append(opts, goose.WithSessionLocker(locker))
	}
	db := s.writeDB
	if db == nil {
		db = s.readDB // it is only asked what it knows
	}
	return goose.NewProvider(s.dialect.goose, db, files, opts...)
}
