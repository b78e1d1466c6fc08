package runtime

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// rules answer requests that need no person. Owned by a desk, which guards them.
type rules struct {
	profile func() profile.Profile // as it is at the moment: its policy may change while the agent works
	mode    wire.ApprovalMode      // of the person whose run it is, as it is at the moment; "" leaves it to the profile
	grants  []wire.Grant           // those not used yet
}

// ruling is the answer of a rule.
type ruling struct {
	decision event.Decision
	policy   string
	reason   string
	updated  json.RawMessage
	response json.RawMessage
}

// judge returns the answer to a request, false if a person has to give it. Policies and modes are about tools. The owner of the machine comes
// first: a profile that denies. Then the mode of the person whose run it is, in place of the profile's policy. What denies counts before what a
// person granted earlier: it was set up later.
func (r *rules) judge(asked event.PromptRequestedPayload) (ruling, bool) {
	p, tool := r.profile(), asked.Kind == event.PromptPermission
	switch {
	case tool && p.Policy == profile.DenyAll:
		return ruling{decision: event.Deny, policy: string(p.Policy), reason: "The policy of this agent allows no tool that asks."}, true
	case tool && r.mode == wire.DenyAll:
		return ruling{decision: event.Deny, policy: event.PolicyOfMode(string(r.mode)), reason: "The approval mode of this conversation allows no tool that asks."}, true
	}
	if grant, ok := r.redeem(asked.Digest); ok {
		return ruling{
			decision: cmp.Or(grant.Decision, event.Allow), policy: event.PolicyGrant, updated: grant.UpdatedInput, response: grant.Response,
			reason: fmt.Sprintf("A person has answered this before, as %s.", grant.RequestID),
		}, true
	}
	policy, name := p.Policy, string(p.Policy)
	if r.mode != "" {
		policy, name = profile.Policy(r.mode), event.PolicyOfMode(string(r.mode))
	}
	if tool && (policy == profile.AllowAll || policy == profile.AllowReadonly && p.Readonly(asked.ToolName)) {
		return ruling{decision: event.Allow, policy: name}, true
	}
	return ruling{}, false
}

// redeem uses up the grant for exactly this request, if there is one.
func (r *rules) redeem(digest string) (wire.Grant, bool) {
	i := slices.IndexFunc(r.grants, func(g wire.Grant) bool { return g.Digest == digest })
	if i < 0 {
		return wire.Grant{}, false
	}
	grant := r.grants[i]
	r.grants = slices.Delete(r.grants, i, i+1)
	return grant, true
}
