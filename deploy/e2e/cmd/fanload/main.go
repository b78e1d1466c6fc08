// Command fanload is the client of the fan-out benchmark: it reads a plan as JSON on standard input, loads the server that it names, and prints
// what it has seen, as JSON. `go run ./cmd/bench fanout` starts it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/fanload"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fanload:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	var plan fanload.Plan
	if err := json.NewDecoder(in).Decode(&plan); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	result, err := fanload.Run(ctx, plan)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(result)
}
