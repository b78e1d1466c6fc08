// Package conformance plays an agent program through every rule that its protocol has for agents, and says which it keeps. One table holds
// the rules; probes are turns that try to show a breach; a ledger collects what they show.
package conformance

import (
	"slices"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
)

// RuleID names a rule. It is stable: scripts may rely on it.
type RuleID string

// Severity says what a breach means.
type Severity string

// Severities.
const (
	Must   Severity = "MUST"   // the edge ignores, denies or fails something because of it
	Should Severity = "SHOULD" // it works, and worse than it could
)

// Rule is one thing that an agent has to keep.
type Rule struct {
	ID       RuleID
	Severity Severity
	Sentence string
	Source   string // where the protocol says so
	// Otherwise is why the rule says nothing about an agent that never shows what it is about.
	Otherwise string
	runtimes  []profile.Runtime // nil for both
}

// Rules returns the rules of a runtime in the order of a turn.
func Rules(runtime profile.Runtime) []Rule {
	all := slices.Concat(turnRules(), lineRules(), eventRules(), sessionRules(), endRules(), permissionRules(), clientRules(), controlRules())
	return slices.DeleteFunc(all, func(r Rule) bool { return r.runtimes != nil && !slices.Contains(r.runtimes, runtime) })
}

func only(runtime profile.Runtime) []profile.Runtime { return []profile.Runtime{runtime} }
