// Package subject names the NATS subjects of Switchyard. Nothing else in the tree spells one.
package subject

import (
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Subject is a NATS subject without wildcards. Pattern may have them.
type (
	Subject string
	Pattern string
)

// Verb is the last token of an uplink subject: which message of package wire is inside.
type Verb string

// Uplink verbs, edge to hub.
const (
	Hello   Verb = "hello"
	Frame   Verb = "frame"
	Receipt Verb = "receipt"
	Pong    Verb = "pong"
	Alive   Verb = "alive"
	// Capabilities means nothing to an older hub, which learns of changed profiles at the next hello.
	Capabilities Verb = "capabilities"
	Shown        Verb = "shown"
)

// Uplink verbs, hub to edge.
const (
	Welcome   Verb = "welcome"
	Committed Verb = "committed"
	Rewind    Verb = "rewind"
	Command   Verb = "command"
	Ping      Verb = "ping"
	Refused   Verb = "refused"
	Show      Verb = "show" // to edges that can answer it alone
)

// Up is where the edge publishes on one connection: edge.<edge>.up.<connection>.<verb>.
func Up(e id.Edge, c id.Connection, v Verb) Subject { return uplink(e, "up", c, string(v)) }

// Down is where the hub publishes to one connection: edge.<edge>.down.<connection>.<verb>.
func Down(e id.Edge, c id.Connection, v Verb) Subject { return uplink(e, "down", c, string(v)) }

// AllUp is everything that one connection of an edge may say: all that its bus credential may publish.
func AllUp(e id.Edge, c id.Connection) Pattern { return Pattern(uplink(e, "up", c, ">")) }

// AllDown is everything that one connection of an edge may hear: all that its bus credential may subscribe to.
func AllDown(e id.Edge, c id.Connection) Pattern { return Pattern(uplink(e, "down", c, ">")) }

func uplink(e id.Edge, direction string, c id.Connection, last string) Subject {
	return Subject(fmt.Sprintf("edge.%s.%s.%s.%s", e, direction, c, last))
}

// VerbOf returns the last token of a concrete uplink subject.
func VerbOf(s string) Verb {
	return Verb(s[strings.LastIndexByte(s, '.')+1:])
}

// Hub-to-hub subjects. Everything on them is a hint or an ephemeral: losing one costs a poll, never data.
const (
	WakeOutbox   Subject = "hub.wake.outbox"   // the outbox has grown
	WakeCommands Subject = "hub.wake.commands" // body: an edge id that has commands waiting
	Ephemeral    Subject = "hub.ephemeral"     // body: a frame for the members of a session (typing)
	Kick         Subject = "hub.kick"          // body: connections to close (logout, revocation, same device)
	Presence     Subject = "hub.presence"      // body: which edges a hub process holds
	People       Subject = "hub.people"        // body: who has a connection to a hub process, or has none any more
	Contacts     Subject = "hub.contacts"      // body: two people between whom something has changed
	Attention    Subject = "hub.attention"     // body: which device a person looks at, or has looked away from
	Revoked      Subject = "hub.revoked"       // body: an edge whose tunnel must close
	Arrived      Subject = "hub.arrived"       // body: which connection has taken an edge's lane
	Doubted      Subject = "hub.doubted"       // body: a connection of an edge that may be one of two machines
)
