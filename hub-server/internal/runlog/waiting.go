package runlog

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const waitingPage = 64 // runs dispatched in one transaction

// Fits says whether a run may be executed by the edge.
func (p Placement) Fits(e fleet.Edge) bool {
	return fleet.Agent{Owner: p.Owner, Edge: p.Edge, Profile: p.Profile}.CanRunOn(e) && e.Refused == "" && e.OperatedBy(p.By) && p.heeded(e)
}

// heeded says whether the edge keeps to the person's mode, and the profile there can do what the run needs.
func (p Placement) heeded(e fleet.Edge) bool {
	return (p.Mode == "" || e.Controls) && (p.Needs == "" || e.Can(p.Profile, p.Needs))
}

// DispatchWaiting hands an edge that has come the runs that waited for one like it.
func (r *Runs) DispatchWaiting(ctx context.Context, edge id.Edge) error {
	e, err := r.dispatcher.edges.Edge(ctx, edge)
	if err != nil {
		return fmt.Errorf("read edge: %w", err)
	}
	return r.dispatchWaiting(ctx, func(_ context.Context, p Placement) (id.Edge, error) {
		if p.Fits(e) {
			return edge, nil
		}
		return "", nil
	})
}

// dispatchOnline hands all waiting runs to edges that are online. It is the floor under a run that was stored as waiting in the very
// moment in which its edge came.
func (r *Runs) dispatchOnline(ctx context.Context) error {
	return r.dispatchWaiting(ctx, r.dispatcher.pick)
}

func (r *Runs) dispatchWaiting(ctx context.Context, pick func(context.Context, Placement) (id.Edge, error)) error {
	picked := map[Placement]id.Edge{} // runs of one agent find one edge
	for after := id.Run(""); ; {
		waiting, err := r.commands.WaitingRuns(ctx, after, waitingPage)
		if err != nil || len(waiting) == 0 {
			return err
		}
		after = waiting[len(waiting)-1].ID
		var ready []NewRun
		for _, n := range waiting {
			edge, known := picked[n.Placement]
			if !known {
				if edge, err = pick(ctx, n.Placement); err != nil {
					return err
				}
				picked[n.Placement] = edge
			}
			if edge == "" {
				continue
			}
			if n, err = r.dispatcher.redirect(n, edge); err != nil {
				return err
			}
			ready = append(ready, n)
		}
		if len(ready) == 0 {
			continue
		}
		if err := r.commands.ClaimWaiting(ctx, ready); err != nil {
			return fmt.Errorf("dispatch waiting runs: %w", err)
		}
	}
}
