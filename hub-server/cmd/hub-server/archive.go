package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/switchyard-dev/switchyard/hub-server/hub"
)

func verifyArchives(ctx context.Context, out io.Writer, config hub.Config) error {
	verdict, err := hub.VerifyArchives(ctx, config)
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	if _, err := fmt.Fprintf(out, "%d archives with %d events are as they were written\n", verdict.Archives, verdict.Events); err != nil {
		return err
	}
	if n := len(verdict.Faults); n > 0 {
		return fmt.Errorf("%d archives in %s are not:\n%w", n, config.ArchiveDir, errors.Join(verdict.Faults...))
	}
	return nil
}
