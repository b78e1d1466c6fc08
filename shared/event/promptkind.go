package event

// PromptKind says what a prompt is about (S0 prompt.user).
type PromptKind string

// Kinds of prompt.
const (
	PromptPermission   PromptKind = "permission"    // may a tool be used?
	PromptQuestion     PromptKind = "question"      // which of these, or what else?
	PromptPlanReview   PromptKind = "plan_review"   // is this plan right?
	PromptStepDecision PromptKind = "step_decision" // a step has failed for good: what now?
	PromptClientTool   PromptKind = "client_tool"   // a call of a tool that a client carries out: asked of the client, never of a person
)

// Decision is the answer to a prompt.
type Decision string

// Decisions. The first two are for all kinds but step_decision, the next three for that one.
const (
	Allow    Decision = "allow"    // yes: use the tool, this is my choice, go by this plan
	Deny     Decision = "deny"     // no
	GoOn     Decision = "continue" // without the step, or with what there is
	TryAgain Decision = "retry"
	GiveUp   Decision = "cancel"
	NoAnswer Decision = "timeout" // nobody gave one in time; only the hub says so
)

// Takes says whether d answers a prompt of the kind. A kind that is not known is one of yes and no.
func (k PromptKind) Takes(d Decision) bool {
	if k == PromptStepDecision {
		return d == GoOn || d == TryAgain || d == GiveUp
	}
	return d == Allow || d == Deny
}

// Named is the kind as the steps that follow the request name it: "" for a permission.
func (k PromptKind) Named() PromptKind {
	if k == PromptPermission {
		return ""
	}
	return k
}

// Repeats says whether the decision answers the same prompt once more when the agent that asked was lost before it heard. A denial does not:
// whoever was told no may ask again.
func (d Decision) Repeats() bool { return d != Deny && d != NoAnswer }
