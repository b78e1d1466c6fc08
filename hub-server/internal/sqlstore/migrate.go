package sqlstore

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema up to date. Several hubs may start at once on PostgreSQL: one migrates, the others wait.
func (s *Store) migrate(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	var opts []goose.ProviderOption
	if s.dialect.advisory {
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120), lock.WithUnlockTimeout(1, 10))
		if err != nil {
			return fmt.Errorf("make migration lock: %w", err)
		}
		opts = append(opts, goose.WithSessionLocker(locker))
	}
	p, err := goose.NewProvider(s.dialect.goose, s.writeDB, files, opts...)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}
