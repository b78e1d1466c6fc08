// Package bridge is the S4 bridge protocol 0.4: one JSON line on an agent's stdin, JSON lines on its stdout, one process per turn. It
// knows lines and rules; processes, pipes and clocks belong to the edge.
package bridge

// Version is the protocol_version that we write. Agents must not compare it; a feature is present when its field is present.
const Version = "0.4"

// Type is the `type` of a line. The vocabulary is closed: six words over both directions.
type Type string

// Types of line. The first two go to the agent, the others come from it.
const (
	TypeTurn               Type = "turn"
	TypePermissionResponse Type = "permission_response"
	TypePartial            Type = "partial"
	TypeResult             Type = "result"
	TypeError              Type = "error"
	TypePermissionRequest  Type = "permission_request"
)

// Role says what the text of a partial is. An unknown role is passed on as it is.
type Role string

// Roles of the protocol. A partial without a usable role is Output.
const (
	Output   Role = "output"
	Thinking Role = "thinking"
)

// Exit codes with a meaning of their own.
const (
	ExitOK      = 0
	ExitError   = 1
	ExitTimeout = 124 // imposed by the bridge, as GNU timeout does
)
