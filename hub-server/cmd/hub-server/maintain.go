package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/hub"
)

func migrate(ctx context.Context, out io.Writer, config hub.Config) error {
	before, err := hub.Migrate(ctx, config)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	_, err = fmt.Fprintf(out, "schema %d, was %d\n", max(before.Want, before.Have), before.Have)
	return err
}

// checkSchema fails if there is something to migrate.
func checkSchema(ctx context.Context, out io.Writer, config hub.Config) error {
	found, err := hub.SchemaOf(ctx, config)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if found.Have < found.Want {
		return fmt.Errorf("migrate: the store has schema %d, this program wants %d", found.Have, found.Want)
	}
	_, err = fmt.Fprintf(out, "schema %d is up to date\n", found.Have)
	return err
}

func backup(ctx context.Context, out io.Writer, config hub.Config, path string) error {
	header, err := hub.Backup(ctx, config, path)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	_, err = fmt.Fprintf(out, "%s: schema %d, as of %s\nkeep %s with it: tokens and receipts are signed with the keys in it\n",
		path, header.Schema, header.MadeAt.Format(time.RFC3339), config.KeysFile)
	return err
}

func restore(ctx context.Context, out io.Writer, config hub.Config, path string) error {
	header, err := hub.Restore(ctx, config, path)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	_, err = fmt.Fprintf(out, "restored as of %s; start the hub\n", header.MadeAt.Format(time.RFC3339))
	return err
}
