package fleet

import (
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Agent is a named configuration: a profile of the owner's edges and how to run it.
type Agent struct {
	ID             id.Agent
	Name           string // unique per owner; what `@name` in a message means
	Description    string
	Owner          id.User
	Profile        string
	Runtime        string  // bridge | events
	Edge           id.Edge // the only edge it may run on; empty: any edge of the owner that has the profile
	PermissionMode string
	CreatedAt      time.Time
}

// CanRunOn says whether a run of the agent may go to the edge. Whether a person may send it there is Edge.OperatedBy.
func (a Agent) CanRunOn(e Edge) bool {
	return e.Owner == a.Owner && !e.Revoked() && (a.Edge == "" || a.Edge == e.ID) && e.Runs(a.Profile)
}

// OperatedBy says whether the user may start, steer and cancel runs of the agent, given all edges of its owner: the owner always,
// others if they may operate an edge that can run it.
func (a Agent) OperatedBy(u id.User, edges []Edge) bool {
	return a.Owner == u || slices.ContainsFunc(edges, func(e Edge) bool { return a.CanRunOn(e) && e.OperatedBy(u) })
}
