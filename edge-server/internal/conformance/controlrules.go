package conformance

import "github.com/switchyard-dev/switchyard/edge-server/internal/profile"

const (
	controlGoesOn RuleID = "control.goes-on"
	steerTaken    RuleID = "steer.taken"
	steerKnown    RuleID = "steer.known"
	compactTurn   RuleID = "compact.turn"
)

// controlRules are about what an agent is told while it works.
func controlRules() []Rule {
	const none = "the profile does not name the control (--control)"
	return []Rule{
		{ID: controlGoesOn, Severity: Must, Sentence: "Whatever it is told while it works, the turn goes on and ends.", Source: "S1 steer, retry-now, compact",
			Otherwise: none, runtimes: only(profile.Events)},
		{ID: steerTaken, Severity: Should, Sentence: "What is said at the beginning of a turn goes to the model, and steer_taken says so.", Source: "S1 steer",
			Otherwise: none, runtimes: only(profile.Events)},
		{ID: steerKnown, Severity: Must, Sentence: "steer_taken names what was said in the turn, once.", Source: "S1 steer",
			Otherwise: "no steer was taken", runtimes: only(profile.Events)},
		{ID: compactTurn, Severity: Must, Sentence: "A turn that only compacts ends well.", Source: "S1 compact", Otherwise: none, runtimes: only(profile.Events)},
	}
}
