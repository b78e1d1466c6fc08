package client

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// asking has a run ask for a call, and say what was answered when it is.
func (h *omniHub) askFor(id string, decided <-chan omni.Decision) {
	ask := OmniApproval{RequestID: "req_" + id, ToolCall: OmniToolCall{Name: "bash", Arguments: `{"command":"rm"}`, ToolCallID: id}}
	h.say(omni.ToolCall(id, "bash", `{"command":"rm"}`))
	h.change(func() { h.asks[ask.RequestID] = ask })
	decision := <-decided
	h.change(func() { delete(h.asks, ask.RequestID) })
	h.say(omni.ApprovalDecision(id, decision))
	h.say(omni.ToolCallOutput(id, "done"))
}

func TestAProgramAnswersWhatIsAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		decision omni.Decision
		err      error
		want     string
	}{
		"allow":          {decision: omni.Allow, want: `{"decision":"allow"}`},
		"deny":           {decision: omni.Deny, want: `{"decision":"deny"}`},
		"no word":        {want: `{"decision":"deny"}`},
		"an error":       {decision: omni.Allow, err: errors.New("no terminal"), want: `{"decision":"deny","reason":"no terminal"}`},
		"a later word":   {decision: omni.Forbidden, want: `{"decision":"deny"}`},
		"over many cuts": {decision: omni.Allow, want: `{"decision":"allow"}`},
	} {
		t.Run(name, func(t *testing.T) {
			inOmniBubble(t, func(t *testing.T, h *omniHub) {
				decided := make(chan omni.Decision, 1)
				h.refuse["POST /approvals/req_call_1"] = func() (int, string) {
					decided <- omni.Allow
					return 0, ""
				}
				if name == "over many cuts" {
					h.budget = func() int { return 500 }
				}
				h.accepted = func(run string) {
					go func() {
						h.askFor("call_1", decided)
						h.end(run)
					}()
				}
				asked := 0
				_, err := ran(t.Context(), h.session(), WithApprovals(func(_ context.Context, ask OmniApproval) (omni.Decision, error) {
					asked++
					if ask.ToolCall.Name != "bash" || ask.ToolCall.Arguments != `{"command":"rm"}` {
						t.Errorf("asked for %+v", ask)
					}
					time.Sleep(time.Second)
					return c.decision, c.err
				}))
				if err != nil {
					t.Fatal(err)
				}
				if got := h.sent("POST /approvals/req_call_1"); asked != 1 || !slices.Equal(got, []string{c.want}) {
					t.Errorf("asked %d times, sent %q", asked, got)
				}
			})
		})
	}
}

// What somebody else has answered needs no answer, and the program that thinks about it is told.
func TestAnApprovalIsOverWhenSomebodyElseAnswers(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		decided := make(chan omni.Decision, 1)
		h.accepted = func(run string) {
			go func() {
				h.askFor("call_1", decided)
				time.Sleep(time.Second)
				h.end(run)
			}()
		}
		over := false
		_, err := ran(t.Context(), h.session(), WithApprovals(func(ctx context.Context, _ OmniApproval) (omni.Decision, error) {
			time.AfterFunc(time.Minute, func() { decided <- omni.Deny })
			<-ctx.Done()
			over = true
			return omni.Allow, ctx.Err()
		}))
		if err != nil || !over {
			t.Errorf("over %v, %v", over, err)
		}
		if got := h.sent("POST /approvals/req_call_1"); got != nil {
			t.Errorf("sent %q", got)
		}
	})
}

func TestAnAnswerThatComesTooLateIsNoFault(t *testing.T) {
	for _, status := range []int{404, 409, 403} {
		inOmniBubble(t, func(t *testing.T, h *omniHub) {
			decided := make(chan omni.Decision, 1)
			h.refuse["POST /approvals/req_call_1"] = func() (int, string) {
				if status == 403 { // nobody has answered
					time.AfterFunc(time.Minute, func() { decided <- omni.Deny })
				} else {
					decided <- omni.Deny
				}
				return status, "no"
			}
			h.accepted = func(run string) {
				go func() {
					h.askFor("call_1", decided)
					time.Sleep(time.Minute)
					h.end(run)
				}()
			}
			_, err := ran(t.Context(), h.session(), WithApprovals(func(context.Context, OmniApproval) (omni.Decision, error) { return omni.Allow, nil }))
			if status == 403 != (err != nil && strings.Contains(err.Error(), "answer the approval of bash")) {
				t.Errorf("%d: %v", status, err)
			}
			if status == 403 {
				time.Sleep(3 * time.Minute) // the run of the hub ends
			}
		})
	}
}
