package main

import (
	"encoding/json"
	"errors"
	"fmt"

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
		_, err = fmt.Fprintf(p.stdout, "%s: %s, uplink %s %s\nversion %s, %d active runs, journal %d to %d, committed %d, %d bytes\n",
			h.EdgeID, h.Status, h.Uplink.State, h.Uplink.Detail, h.Version, h.ActiveRuns,
			h.Journal.Floor, h.Journal.Head, h.Journal.Committed, h.Journal.Bytes)
	}
	if err == nil && !h.Ready() {
		return errUnready
	}
	return err
}
