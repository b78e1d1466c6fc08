// Command hub-server serves the record of a Switchyard installation to people's devices, and takes in what edges report.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/switchyard-dev/switchyard/hub-server/hub"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// version is stamped in by the build.
var version = "dev"

const description = `Serve a Switchyard hub. It is configured by environment variables only; docs/config.md lists them.

Without any, it keeps its state in the user's data folder, in SQLite, and listens on 127.0.0.1:8080.`

type arguments struct {
	Check   bool             `help:"Print the effective configuration, secrets masked, and exit."`
	Version kong.VersionFlag `help:"Print the version and exit."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	var args arguments
	kong.Parse(&args, kong.Name("hub-server"), kong.Description(description), kong.Vars{"version": version})
	if err := run(ctx, args, os.Environ(), os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "hub-server: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args arguments, environ []string, stdout, stderr io.Writer) error {
	config, err := hub.LoadConfig(environ)
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	if args.Check {
		return printConfig(stdout, config)
	}
	log, err := telemetry.NewLogger(stderr, config.LogLevel)
	if err != nil {
		return err
	}
	h, err := hub.New(ctx, hub.Options{Config: config, Log: log, Version: version})
	if err != nil {
		return err
	}
	return errors.Join(h.Run(ctx), h.Close())
}

func printConfig(w io.Writer, c hub.Config) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(c.Effective())
}
