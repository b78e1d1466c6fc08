package main

import (
	"fmt"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/builtin/scout"
)

// builtinCommand plays an agent that ships inside the edge. The edge starts these itself; by hand they take a turn line on stdin.
type builtinCommand struct {
	Scout scoutCommand `cmd:"" help:"Answer one turn about the git repository or folder that this is started in."`
}

type scoutCommand struct {
	Pace time.Duration `default:"0" help:"Pause between two pieces of text."`
}

// Run reads a turn line from stdin and writes the lines of the events runtime.
func (c *scoutCommand) Run(p program) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the workspace: %w", err)
	}
	return scout.Run(p.ctx, p.stdin, p.stdout, scout.Options{Dir: dir, Pace: c.Pace, Env: p.environ})
}
