// Package fleet knows the machines that run agents and the agents themselves: enrolment, credentials, who may operate what.
package fleet

import (
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Edge is one machine that runs agents.
type Edge struct {
	ID         id.Edge
	Name       string
	Owner      id.User
	Hostname   string
	Version    string         // of edge-server, as its last hello said
	Profiles   []wire.Profile // what it can run, as its last hello said
	Controls   bool           // it takes commands to runs at work, and approval modes
	Operators  []id.User      // whom the owner lets operate it
	Refused    fault.Code     // why the hub takes no rows from it; empty when it does
	CreatedAt  time.Time
	LastSeenAt time.Time // zero before its first hello
	RevokedAt  time.Time // zero while it may connect
}

// Revoked says whether the edge's credential has been taken back.
func (e Edge) Revoked() bool { return !e.RevokedAt.IsZero() }

// Runs says whether the edge announced the profile.
func (e Edge) Runs(profile string) bool {
	return slices.ContainsFunc(e.Profiles, func(p wire.Profile) bool { return p.Name == profile })
}

// Can says whether the edge takes commands to runs at work and runs of the profile can do that: a word of wire.Controls.
func (e Edge) Can(profile, control string) bool {
	return e.Controls && slices.ContainsFunc(e.Profiles, func(p wire.Profile) bool {
		return p.Name == profile && slices.Contains(p.Controls, control)
	})
}

// OperatedBy says whether the user may start, steer and cancel runs on the edge: its owner, and whom the owner named.
func (e Edge) OperatedBy(u id.User) bool { return e.Owner == u || slices.Contains(e.Operators, u) }

// State is how an edge looks from outside.
type State string

// States of an edge.
const (
	Online  State = "online"
	Offline State = "offline"
	Refused State = "refused" // connected or not, its rows cannot be taken
	Revoked State = "revoked"
)

// StateOf combines what is stored about an edge with whether it is connected now.
func StateOf(e Edge, online bool) State {
	switch {
	case e.Revoked():
		return Revoked
	case e.Refused != "":
		return Refused
	case online:
		return Online
	}
	return Offline
}

// Presence says which edges are connected to any hub now. It is safe for concurrent use and never blocks.
type Presence interface {
	Online(id.Edge) bool
}
