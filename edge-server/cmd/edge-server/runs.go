package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/edge"
	"github.com/switchyard-dev/switchyard/shared/id"
)

type runsCommand struct {
	Before string `placeholder:"RUN" help:"Go on behind this run, the last one of the page before."`
	JSON   bool   `name:"json" help:"Print the whole answer as JSON."`
}

// Run lists what this edge has run, the newest first.
func (c *runsCommand) Run(p program) error {
	config, err := edge.LoadConfig(p.environ)
	if err != nil {
		return fmt.Errorf("configuration:\n%w", err)
	}
	list, err := edge.AskRuns(p.ctx, config, id.Run(c.Before))
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(p.stdout).Encode(list)
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, r := range list.Items {
		//nolint:errcheck // Flush tells
		fmt.Fprintln(table, strings.Join([]string{
			string(r.RunID), r.Phase, r.AgentName, r.AdmittedAt.Local().Format(time.DateTime), fmt.Sprintf("events %d to %d", r.FirstSeq, r.LastSeq),
		}, "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if last := len(list.Items) - 1; list.Page.HasMore && last >= 0 {
		_, err = fmt.Fprintf(p.stderr, "more: edge-server runs --before %s\n", list.Items[last].RunID)
	}
	return err
}
