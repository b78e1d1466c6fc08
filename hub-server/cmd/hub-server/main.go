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
	"runtime/debug"
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
	Serve      struct{} `cmd:"" default:"1" help:"Serve until interrupted (the default)."`
	RotateKeys struct{} `cmd:"" help:"Sign access tokens with a new key from now on. Hubs that run follow within moments; nobody is logged out. Wait 15 minutes before the next time."`

	Migrate struct{} `cmd:"" help:"Bring the tables of the store up to date. A hub does so itself when it starts. With --check: change nothing, and fail if there is something to do."`
	Backup  struct {
		File string `arg:"" help:"The file to make; it must not be there yet."`
	} `cmd:"" help:"Write everything in the store to a file, as it is at one moment. Hubs may run meanwhile. The keys file is not in it: keep a copy of that too."`
	Restore struct {
		File string `arg:"" help:"A file that backup has made."`
	} `cmd:"" help:"Fill a store that is empty, or not there yet, with a backup; SQLite and PostgreSQL read each other's. Devices are told to begin anew, edges send again what the backup does not have."`

	Audit struct {
		Verify struct{} `cmd:"" help:"Check every entry and every seal, and fail at the first that was changed. Note the chain that is printed: it must be met again."`
		List   struct {
			After int64 `help:"Begin behind the entry with this number."`
		} `cmd:"" help:"Print the entries, one JSON object a line."`
	} `cmd:"" help:"Read the log of logins, devices, invitations, machines, grants, answers and cancels. Hubs may run meanwhile."`

	Archive struct {
		List   struct{} `cmd:"" help:"Print what was archived, one JSON object a line."`
		Verify struct{} `cmd:"" help:"Read every archive to its end, compare it with what the store has recorded of it, and fail if one is missing or was changed."`
		Show   struct {
			Run  string `arg:"" help:"The id of the run."`
			View string `default:"lean" enum:"lean,full" help:"lean, as clients saw the events (the default), or full, the whole envelope."`
		} `cmd:"" help:"Print the archived events of a run, one JSON object a line, each as the hub has served it before."`
	} `cmd:"" help:"Read the events of ended runs that have left the store (HUB_RETENTION_RUNS, HUB_RETENTION_BYTES). Hubs may run meanwhile."`

	Check   bool             `help:"Print the effective configuration, secrets masked, ask NATS and Redis for an answer if it names them, and exit."`
	Version kong.VersionFlag `help:"Print the version and exit."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	var args arguments
	command := kong.Parse(&args, kong.Name("hub-server"), kong.Description(description), kong.Vars{"version": version}).Command()
	if err := run(ctx, command, args); err != nil {
		fmt.Fprintf(os.Stderr, "hub-server: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command string, args arguments) error {
	config, err := hub.LoadConfig(os.Environ())
	switch {
	case err != nil:
		return fmt.Errorf("configuration: %w", err)
	case command == "migrate" && args.Check:
		return checkSchema(ctx, os.Stdout, config)
	case args.Check:
		return errors.Join(printConfig(os.Stdout, config), hub.Reach(ctx, config))
	case command == "migrate":
		return migrate(ctx, os.Stdout, config)
	case command == "backup <file>":
		return backup(ctx, os.Stdout, config, args.Backup.File)
	case command == "restore <file>":
		return restore(ctx, os.Stdout, config, args.Restore.File)
	case command == "audit verify":
		return verifyAudit(ctx, os.Stdout, config)
	case command == "audit list":
		return hub.ListAudit(ctx, config, hub.AuditSeq(args.Audit.List.After), os.Stdout)
	case command == "archive list":
		return hub.ListArchives(ctx, config, os.Stdout)
	case command == "archive verify":
		return verifyArchives(ctx, os.Stdout, config)
	case command == "archive show <run>":
		return hub.ShowArchive(ctx, config, args.Archive.Show.Run, args.Archive.Show.View, os.Stdout)
	case command == "rotate-keys":
		return hub.RotateKeys(config)
	}
	return serve(ctx, config)
}

// gcPercent lets garbage grow to three times what lives before it is collected. What lives in a hub is small and what it throws away is much, so
// at the usual once it would collect many times a second under load, and delay whatever it does then.
const gcPercent = 300

func serve(ctx context.Context, config hub.Config) error {
	if os.Getenv("GOGC") == "" { // an operator knows better
		debug.SetGCPercent(gcPercent)
	}
	log, err := telemetry.NewLogger(os.Stderr, config.LogLevel)
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
