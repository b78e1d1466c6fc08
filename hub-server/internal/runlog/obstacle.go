package runlog

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// obstacle says why none of the owner's edges will take the run, however long it waits, unless a person does something: "" if one needs only to
// come online.
func (p Placement) obstacle(agent string, edges []fleet.Edge) string {
	owned := func(e fleet.Edge) bool { return e.Owner == p.Owner && !e.Revoked() && (p.Edge == "" || p.Edge == e.ID) }
	able := func(e fleet.Edge) bool { return owned(e) && e.Runs(p.Profile) }
	allowed := func(e fleet.Edge) bool { return able(e) && e.OperatedBy(p.By) }
	switch {
	case !slices.ContainsFunc(edges, owned):
		return fmt.Sprintf("The machine that %s ran on was removed. Cancel the task, or enrol one that has the profile %q.", agent, p.Profile)
	case !slices.ContainsFunc(edges, able):
		return fmt.Sprintf("The profile %q, which %s runs with, is on no machine any more. Add it again, or cancel the task.", p.Profile, agent)
	case !slices.ContainsFunc(edges, allowed):
		return fmt.Sprintf("Whoever asked may not operate a machine that can run %s any more. Its owner can allow it, or cancel the task.", agent)
	case !slices.ContainsFunc(edges, func(e fleet.Edge) bool { return allowed(e) && (p.Needs == "" || e.Can(p.Profile, p.Needs)) }):
		return fmt.Sprintf("The profile of %s cannot do what is asked for (%s) any more. Add it to its controls, or cancel the task.", agent, p.Needs)
	case !slices.ContainsFunc(edges, func(e fleet.Edge) bool { return allowed(e) && p.heeded(e) }):
		return fmt.Sprintf("The edge-server that can run %s is too old to keep to your approval mode. Update it, or leave the mode to its profile.", agent)
	case !slices.ContainsFunc(edges, p.Fits):
		return fmt.Sprintf("The hub takes nothing from the machine that can run %s. `yard edges` shows why.", agent)
	}
	return ""
}

// explain says in a run that waits for an edge what keeps it from finding one.
func (r *Runs) explain(ctx context.Context, found *Run) error {
	if found.State != run.StateWaitingEdge {
		return nil
	}
	waiting, err := r.succession.Dispatched(ctx, found.ID)
	if fault.CodeOf(err) == fault.NotFound {
		return nil // removed meanwhile
	}
	if err != nil {
		return err
	}
	edges, err := r.dispatcher.edges.EdgesOf(ctx, waiting.Placement.Owner)
	if err != nil {
		return fmt.Errorf("read edges: %w", err)
	}
	found.WaitsFor = waiting.Placement.obstacle(found.AgentName, edges)
	return nil
}
