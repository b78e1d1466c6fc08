package omni

import (
	"fmt"
	"strings"
)

// Rule is something that a stream has to keep.
type Rule string

// The rules. The first is for each message by itself, the next eight are S1's discipline of fragments (流式纪律), the others hold between messages.
const (
	RuleShape     Rule = "a message has the shape of its type"
	RuleStart     Rule = "a fragment begins with start"
	RuleOneOpen   Rule = "a fragment starts after the one before it has stopped"
	RuleDeltas    Rule = "content is in deltas alone"
	RuleImages    Rule = "all images are in one delta"
	RuleFollow    Rule = "the complete message follows its stop at once"
	RuleContent   Rule = "the deltas add up to the complete message"
	RuleReason    Rule = "the fragment and the complete message end for the same reason"
	RuleClosed    Rule = "no fragment is left open"
	RuleMeta      Rule = "a context has one session_meta, before anything else"
	RulePairs     Rule = "each tool call has an id of its own and one output, after it"
	RuleApproval  Rule = "an approval is of a call that has no output yet"
	RuleRequest   Rule = "requests end before the next begins, and after it began"
	RuleUsage     Rule = "the session's usage grows by the request's"
	RuleCompacted Rule = "a compaction ends as it began, before the next begins"
)

// Rules lists them.
func Rules() []Rule {
	return []Rule{
		RuleShape, RuleStart, RuleOneOpen, RuleDeltas, RuleImages, RuleFollow, RuleContent, RuleReason, RuleClosed,
		RuleMeta, RulePairs, RuleApproval, RuleRequest, RuleUsage, RuleCompacted,
	}
}

// Breach is that a message broke a rule.
type Breach struct {
	Number int    // of the message in the stream, from 1; one more than the last for what is missing at the end
	Type   string // of its payload; session_meta, or end
	Origin string // "" for the main session
	Rule   Rule
	What   string
}

// Error says which message broke which rule.
func (b Breach) Error() string {
	what := fmt.Sprintf("message %d (%s", b.Number, b.Type)
	if b.Origin != "" {
		what += " of " + b.Origin
	}
	return fmt.Sprintf("%s): %s: %s", what, b.Rule, b.What)
}

// Breaches are what a message did to a stream, never none.
type Breaches []Breach

// Error has a line for each.
func (b Breaches) Error() string {
	lines := make([]string, len(b))
	for i, breach := range b {
		lines[i] = breach.Error()
	}
	return strings.Join(lines, "\n")
}
