package runlog

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Recreate takes a run back into a store that was restored from a backup older than it is. The edge has kept the command that started it; the
// hub believes its own signature and nothing else (SEC17). What cannot be taken back is left out, and says why in the log: rows of the run then go
// to quarantine. The error is the store's.
func (l *Lanes) Recreate(ctx context.Context, edge id.Edge, shown wire.Shown) error {
	lost, why := l.readShown(edge, shown)
	if why != nil {
		l.log.Warn("a run is not known and cannot be recreated", "edge", edge, "run", shown.RunID, "reason", why)
		return nil
	}
	owned, err := l.runs.dispatcher.edges.Edge(ctx, edge)
	if err != nil {
		return fmt.Errorf("read edge: %w", err)
	}
	lost.Placement.Owner = owned.Owner
	done, err := l.store.RecreateRun(ctx, lost)
	switch {
	case err != nil:
		return fmt.Errorf("recreate run %s: %w", lost.ID, err)
	case !done:
		l.log.Warn("a run is not known and cannot be recreated", "edge", edge, "run", lost.ID, "reason", "its conversation is not known either")
	default:
		l.metrics.recreated.Inc()
		l.log.Info("recreated a run that the store had lost", "edge", edge, "run", lost.ID, "session", lost.Session)
	}
	return nil
}

// readShown turns a start command of ours back into the run that it started.
func (l *Lanes) readShown(edge id.Edge, shown wire.Shown) (NewRun, error) {
	c := shown.Command
	switch {
	case c == nil:
		return NewRun{}, fault.New(fault.NotFound, "the edge does not have its start")
	case c.Kind != wire.Start || c.RunID != shown.RunID || !l.signer.CheckCommand(edge, *c):
		return NewRun{}, fault.New(fault.EdgeRefused, "what the edge shows is no start of it by this hub")
	}
	d, err := wire.Decode[wire.Dispatch](c.Body)
	if err != nil {
		return NewRun{}, err
	}
	n := NewRun{
		Run: Run{
			ID: c.RunID, Root: c.RunID, Session: d.SessionID, Agent: d.AgentID, AgentName: d.AgentName, Edge: edge, Lease: c.Lease,
			AgentChecksum: agentChecksum(fleet.Agent{ID: d.AgentID, Name: d.AgentName, Profile: d.Profile, Runtime: d.Runtime, Edge: edge}),
			Trigger:       d.TriggerID, RequestedBy: d.TriggerUserID, TraceID: d.TraceID, State: run.StateDispatched, CreatedAt: d.CreatedAt,
		},
		Placement: Placement{By: d.TriggerUserID, Edge: edge, Profile: d.Profile, Runtime: d.Runtime, Mode: d.ApprovalMode},
		Dispatch:  c.Body,
	}
	if d.Continues != nil {
		n.Continues = d.Continues.RunID
	}
	n.Frame, err = n.frame()
	return n, err
}
