package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/switchyard-dev/switchyard/edge-server/edge"
)

type healthCommand struct {
	JSON bool `name:"json" help:"Print the whole answer as JSON."`
}

var errUnready = errors.New("the edge takes no work at the moment")

// Run fails when the edge takes no work, so that scripts can wait for it.
func (c *healthCommand) Run(p program) error {
	config, err := edge.LoadConfig(p.environ)
	if err != nil {
		return fmt.Errorf("configuration:\n%w", err)
	}
	h, err := edge.AskHealth(p.ctx, config)
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(p.stdout).Encode(h)
	} else {
		err = printHealth(p.stdout, h)
	}
	if err == nil && !h.Ready() {
		return errUnready
	}
	return err
}

func printHealth(w io.Writer, h edge.Health) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s, uplink %s %s\nversion %s, %d active runs, journal %d to %d, committed %d, %d bytes\n",
		h.EdgeID, h.Status, h.Uplink.State, h.Uplink.Detail, h.Version, h.ActiveRuns,
		h.Journal.Floor, h.Journal.Head, h.Journal.Committed, h.Journal.Bytes)
	fmt.Fprintf(&text, "agents: %s\n", strings.Join(h.Profiles.Offered, ", "))
	for _, f := range h.Profiles.Faulty {
		kept := "is not used"
		if f.Kept {
			kept = "is not used; its version before still is"
		}
		fmt.Fprintf(&text, "%s %s:\n  %s\n", f.File, kept, strings.Join(f.Problems, "\n  "))
	}
	_, err := io.WriteString(w, text.String())
	return err
}
