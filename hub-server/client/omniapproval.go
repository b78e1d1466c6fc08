package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// approver has a program answer what is asked for while a Run is followed. Its methods are called by one goroutine.
type approver struct {
	session *OmniSession
	answer  func(context.Context, OmniApproval) (omni.Decision, error) // nil: nobody answers
	group   *supervise.Group
	fail    context.CancelCauseFunc
	open    map[string]asked // by request: what is looked at, or answered and not told of yet
}

type asked struct {
	OmniApproval
	over context.CancelFunc
}

// begin makes it ready. fail ends the Run: what cannot be answered would wait without end.
func (a *approver) begin(ctx context.Context, fail context.CancelCauseFunc) {
	a.group, a.fail, a.open = supervise.NewGroup(ctx), fail, map[string]asked{}
}

// end returns when nobody is at work on an answer; the context of ask has ended.
func (a *approver) end() {
	a.group.Wait() //nolint:errcheck // its functions have none
}

// ask has an approval answered. Each connection tells those that wait: the same one counts once.
func (a *approver) ask(ctx context.Context, ask OmniApproval) {
	if _, known := a.open[ask.RequestID]; known || a.answer == nil {
		return
	}
	ctx, over := context.WithCancel(ctx)
	a.open[ask.RequestID] = asked{ask, over}
	a.group.Go(func(context.Context) error {
		defer over()
		if err := a.decide(ctx, ask); err != nil && ctx.Err() == nil {
			a.fail(fmt.Errorf("answer the approval of %s: %w", ask.ToolCall.Name, err))
		}
		return nil
	})
}

func (a *approver) decide(ctx context.Context, ask OmniApproval) error {
	reason := ""
	decision, err := a.answer(ctx, ask)
	if ctx.Err() != nil {
		return ctx.Err() // somebody else has answered, or nobody needs to
	}
	if err != nil || decision != omni.Allow {
		decision = omni.Deny
	}
	if err != nil {
		reason = err.Error()
	}
	err = a.session.Approve(ctx, ask.RequestID, decision, reason)
	if problem := asProblem(err); problem != nil && (problem.Status == http.StatusNotFound || problem.Status == http.StatusConflict) {
		return nil // it waits no more
	}
	return err
}

// settled ends the work on what somebody has answered.
func (a *approver) settled(m omni.Message) {
	if len(a.open) == 0 || m.PayloadType() != omni.TypeApprovalDecision {
		return
	}
	body, _ := m.Body() //nolint:errcheck // what cannot be read settles nothing
	said, ok := body.(omni.ApprovalDecisionPayload)
	if !ok {
		return
	}
	for request, one := range a.open {
		if one.ToolCall.ToolCallID == said.ToolCallID && slices.Equal(one.Origin, m.Origin()) {
			one.over()
			delete(a.open, request)
		}
	}
}
