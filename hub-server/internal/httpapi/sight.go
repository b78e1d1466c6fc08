package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// sight is what one person may see of the machines that events come from: paths only of those that they own (ruling R18).
type sight struct {
	edges   *fleet.Edges
	user    id.User
	brought bool // it is a trace that somebody brought: whose machine it was nobody here knows, and the paths are what was brought
}

func (d Deps) sightOf(ctx context.Context) sight {
	return sight{edges: d.Edges, user: caller(ctx).User}
}

// adapt puts in place of each event what the person may see of it.
func (s sight) adapt(ctx context.Context, events []runlog.StoredEvent) error {
	for i, e := range events {
		shown, changed := e.ForStrangers()
		if !changed {
			continue
		}
		owner, err := s.owns(ctx, e.Edge)
		if err != nil {
			return err
		}
		if !owner {
			events[i] = shown
		}
	}
	return nil
}

func (s sight) owns(ctx context.Context, edge id.Edge) (bool, error) {
	view, err := s.edges.Get(ctx, s.user, edge)
	if fault.CodeOf(err) == fault.NotFound {
		return false, nil
	}
	return view.Owner == s.user, err
}
