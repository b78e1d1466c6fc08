package runtime

import (
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// TestTheOwnerComesFirstThenThePersonThenTheProfile has each policy with each mode, for a tool that only looks and for one that does not.
func TestTheOwnerComesFirstThenThePersonThenTheProfile(t *testing.T) {
	const person = "a person"
	for _, policy := range profile.Policies() {
		for _, mode := range append(wire.ApprovalModes(), "") {
			for _, tool := range []string{"Read", "Bash"} {
				want := person
				switch effective := string(mode); {
				case policy == profile.DenyAll:
					want = "deny by deny-all"
				case mode == wire.DenyAll:
					want = "deny by mode:deny-all"
				case mode == wire.AllowAll || mode == wire.AllowReadonly && tool == "Read":
					want = "allow by mode:" + effective
				case mode == "" && (policy == profile.AllowAll || policy == profile.AllowReadonly && tool == "Read"):
					want = "allow by " + string(policy)
				}
				r := rules{profile: func() profile.Profile { return profile.Profile{Policy: policy} }, mode: mode}
				got := person
				if said, ok := r.judge(event.PromptRequestedPayload{Kind: event.PromptPermission, ToolName: tool}); ok {
					got = string(said.decision) + " by " + said.policy
				}
				if got != want {
					t.Errorf("policy %q, mode %q, %s: %s, want %s", policy, mode, tool, got, want)
				}
			}
		}
	}
}

func TestModesAnswerNothingButPermissions(t *testing.T) {
	for _, mode := range wire.ApprovalModes() {
		r := rules{profile: func() profile.Profile { return profile.Profile{} }, mode: mode}
		if said, ok := r.judge(event.PromptRequestedPayload{Kind: event.PromptQuestion}); ok {
			t.Errorf("%q answers a question: %+v", mode, said)
		}
	}
}

// A mode that denies counts before what was granted earlier; every other one leaves the grant its one answer.
func TestAGrantOutlivesEveryModeButTheOneThatDenies(t *testing.T) {
	for _, mode := range append(wire.ApprovalModes(), "") {
		r := rules{
			profile: func() profile.Profile { return profile.Profile{} }, mode: mode,
			grants: []wire.Grant{{RequestID: "req_1", Digest: "d", Decision: event.Deny}},
		}
		said, ok := r.judge(event.PromptRequestedPayload{Kind: event.PromptPermission, ToolName: "Bash", Digest: "d"})
		want := event.PolicyGrant
		if mode == wire.DenyAll {
			want = "mode:deny-all"
		}
		if !ok || said.decision != event.Deny || said.policy != want {
			t.Errorf("mode %q: %+v", mode, said)
		}
	}
}
