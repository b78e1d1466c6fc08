package story

import (
	"context"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// A person's mode answers what a real agent asks for, and a person does by the name of the call; what has nothing to do makes its context smaller in a run
// of its own, once.
func TestPermissionsFollowTheModeAndAContextIsMadeSmallerBetweenTasks(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	profile := rig.Profile("events", r.Program("testagent"), "--scenes", "--pace", "20ms")
	r.AddEdge("laptop", map[string]string{"worker": profile + "permission: true\ncontrols: [steer, retry_now, compact]\nkill_grace_secs: 1\n"})
	device := r.Device("program", r.HubURL())
	session := device.Group("demo", "worker")
	k, ctx := talk{device.Session(session), t}, t.Context()
	mode := func(mode client.ApprovalMode) {
		t.Helper()
		now, err := client.Decode[client.OmniConversation](device.API().UpdateOmniSession(ctx, session, client.OmniSessionChange{ApprovalMode: &mode}))
		if err != nil || now.ApprovalMode != mode || now.State != "idle" {
			t.Fatalf("mode %q: %+v, %v", mode, now, err)
		}
	}
	// said runs the scene and returns its last words; what a person is asked is allowed by the name of its call, once counted.
	said := func() (last string, asked int) {
		t.Helper()
		yes := client.WithApprovals(func(context.Context, client.OmniApproval) (omni.Decision, error) {
			asked++
			return omni.Allow, nil
		})
		for m, err := range k.Run(ctx, client.TextTask("Remove the scratch folder."), yes) {
			if err != nil {
				t.Fatal(err)
			}
			if body, _ := m.Body(); m.IsCompleteModelMessage() {
				if text, is := body.(omni.TextPayload); is && text.Role == omni.Assistant {
					last = text.Text
				}
			}
		}
		return last, asked
	}

	if _, err := k.Compact(ctx); client.CodeOf(err) != client.ProblemCodeNothingToCompact {
		t.Errorf("compact what nobody has worked in: %v", err)
	}
	for _, c := range []struct {
		mode  client.ApprovalMode
		words string
		asked int
	}{
		{"deny-all", "It stays.", 0}, {"allow-all", "It is gone.", 0}, {"read-only", "It is gone.", 1}, {"always-ask", "It is gone.", 1}, {"", "It is gone.", 1},
	} {
		mode(c.mode)
		if words, asked := said(); words != c.words || asked != c.asked {
			t.Errorf("in mode %q it said %q after %d questions, want %q and %d", c.mode, words, asked, c.words, c.asked)
		}
	}

	// By the name of its call, while it waits.
	k.run("Remove the scratch folder.", func(p omni.Payload) {
		if call, is := p.(omni.ToolCallPayload); is {
			r.Eventually("the answer is taken", func() bool {
				err := k.Approve(ctx, call.ToolCallID, omni.Deny, "not today")
				return err == nil
			})
			// Earlier tasks have had a call of this id, so that it has a number, which no settled call is found by.
			if err := k.Approve(ctx, call.ToolCallID, omni.Allow, ""); client.CodeOf(err) != client.ProblemCodeNotFound {
				t.Errorf("a second answer: %v", err)
			}
		}
	})

	run, err := k.Compact(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r.Eventually("the context is smaller", func() bool {
		now, err := client.Decode[client.OmniConversation](device.API().GetOmniSession(ctx, session))
		return err == nil && now.State == "idle"
	})
	if state := device.Task(id.Run(run)).State; state != client.RunStateCompleted {
		t.Errorf("the run is %s", state)
	}
	var kinds []string
	for page, err := range k.Messages(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Messages {
			switch body, _ := m.Message.Body(); body.(type) {
			case omni.CompactionBeginPayload:
				kinds = append(kinds, "begin")
			case omni.CompactionEndPayload:
				kinds = append(kinds, "end")
			}
		}
	}
	if !slices.Equal(kinds, []string{"begin", "end"}) {
		t.Errorf("compactions %q", kinds)
	}
	if _, err := k.Compact(ctx); client.CodeOf(err) != client.ProblemCodeAlreadyCompacted {
		t.Errorf("once more: %v", err)
	}
}
