package main

import (
	"context"
	"fmt"
	"io"

	"github.com/switchyard-dev/switchyard/hub-server/hub"
)

func verifyAudit(ctx context.Context, out io.Writer, config hub.Config) error {
	verdict, err := hub.VerifyAudit(ctx, config)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	_, err = fmt.Fprintf(out, "entries 1 to %d are as they were written, chain %x; %d after them are not sealed yet\n",
		verdict.Sealed, verdict.Chain, verdict.Unsealed)
	return err
}
