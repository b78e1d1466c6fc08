// Package profile reads the YAML that says how to start an agent (S4 "Profile YAML"): one file per agent in a folder, plus the profiles that
// ship inside the edge.
package profile

import (
	"slices"
	"strings"
	"time"
)

// Name of a profile: the name of its file without the ending. People see it as the name of an agent.
type Name string

// Runtime is the protocol that the agent speaks.
type Runtime string

// Runtimes of this edge.
const (
	Bridge Runtime = "bridge" // S4
	Events Runtime = "events" // S4's turn line in, S2's AgentEvents out (R17)
)

// Runtimes returns every runtime, the default first.
func Runtimes() []Runtime { return []Runtime{Bridge, Events} }

// Defaults of S4.
const (
	DefaultTimeout = 1800 * time.Second
	DefaultGrace   = 5 * time.Second
)

// Profile is one way to start an agent. Placeholders and variables in it are not expanded yet; see Launch.
type Profile struct {
	Name        Name
	Runtime     Runtime
	Description string // one sentence for people

	Command string   // argv[0]: one token, never split
	Args    []string // argv[1..]
	Cwd     string   // relative to Dir; empty: the workspace that the edge chooses
	Env     map[string]string

	// EnvAllowlist names the variables of the edge that ${VAR} may show; nil allows all.
	EnvAllowlist []string
	// PublicEnv names entries of Env whose values are no secrets, though they come from a variable or look like one by name.
	PublicEnv []string

	Timeout    time.Duration // of a whole turn; 0 is no limit (R15)
	Grace      time.Duration // from TERM to KILL
	Streaming  bool          // partials are passed on at once
	Permission bool          // the agent may ask people
	// Policy says who answers the agent when it asks. Read it anew for each question: the file may have changed.
	Policy Policy
	// ReadonlyTools are the tools that AllowReadonly lets through, by their exact names; nil is DefaultReadonlyTools.
	ReadonlyTools []string
	MaxRuns       int // turns of this agent at once on this edge; 0 is no limit but the edge's own
	// Controls are what the agent can be told while it works, and whether its turns may have a thinking level: words of wire.Controls. Events alone.
	Controls []string
	Executor string // an agent that ships inside the edge; Command is ignored when it is known

	// Dir is the folder of the profile's file, absolute: {{PROFILE_DIR}}.
	Dir string
}

func named(name Name, dir string) Profile {
	return Profile{Name: name, Runtime: Bridge, Timeout: DefaultTimeout, Grace: DefaultGrace, Streaming: true, Policy: Ask, Dir: dir}
}

// Takes says whether the agent knows a control.
func (p Profile) Takes(control string) bool { return slices.Contains(p.Controls, control) }

const maxName = 64

// Valid says whether n can name an agent: 1 to 64 of a-z 0-9 . _ -, and not a sign first, so that @name can be found in a text.
func (n Name) Valid() bool {
	if n == "" || len(n) > maxName || strings.Trim(string(n[0]), "._-") == "" {
		return false
	}
	return strings.Trim(string(n), "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}
