package fleet

import (
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

// CanRunOn says whether a run of the agent may go to the edge. Whether a person may send it there is Edges.Operates.
func (a Agent) CanRunOn(e Edge) bool {
	return e.Owner == a.Owner && !e.Revoked() && (a.Edge == "" || a.Edge == e.ID) && e.Runs(a.Profile)
}
