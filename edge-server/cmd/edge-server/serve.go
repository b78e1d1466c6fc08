package main

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/switchyard-dev/switchyard/edge-server/edge"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

type serveCommand struct {
	Check bool `help:"Print the effective configuration and exit."`
}

// Run serves until a signal comes.
func (c *serveCommand) Run(p program) error {
	config, err := edge.LoadConfig(p.environ)
	if err != nil {
		return fmt.Errorf("configuration:\n%w", err)
	}
	if c.Check {
		return config.Print(p.stdout)
	}
	log, err := telemetry.NewLogger(p.stderr, levelName(config.LogLevel))
	if err != nil {
		return err
	}
	err = edge.Run(p.ctx, config, version, log)
	if errors.Is(err, edge.ErrNotEnrolled) {
		return fmt.Errorf("%w\nMake a token with: yard edge enrol\nThen: edge-server enrol --hub URL --token TOKEN", err)
	}
	return err
}

func levelName(l slog.Level) string {
	switch {
	case l <= slog.LevelDebug:
		return "debug"
	case l <= slog.LevelInfo:
		return "info"
	case l <= slog.LevelWarn:
		return "warn"
	}
	return "error"
}
