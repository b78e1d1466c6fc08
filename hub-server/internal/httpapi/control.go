package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/control"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// GetOmniSession implements getOmniSession.
func (h handlers) GetOmniSession(ctx context.Context, r GetOmniSessionRequestObject) (GetOmniSessionResponseObject, error) {
	state, err := h.Controls.State(ctx, caller(ctx).User, id.Session(r.SessionID))
	if err != nil {
		return nil, hide(err)
	}
	return GetOmniSession200JSONResponse(renderState(state)), nil
}

// UpdateOmniSession implements updateOmniSession.
func (h handlers) UpdateOmniSession(ctx context.Context, r UpdateOmniSessionRequestObject) (UpdateOmniSessionResponseObject, error) {
	if r.Body.ApprovalMode == nil { // "" takes a mode away: what is absent must not
		return nil, fault.New(fault.InvalidRequest, "approvalMode is missing, and there is nothing else to change.")
	}
	mode, err := modeNamed(*r.Body.ApprovalMode)
	if err != nil {
		return nil, err
	}
	by, session := caller(ctx).User, id.Session(r.SessionID)
	if err := h.Runs.SetMode(ctx, by, session, mode); err != nil {
		return nil, hide(err)
	}
	state, err := h.Controls.State(ctx, by, session)
	if err != nil {
		return nil, hide(err)
	}
	return UpdateOmniSession200JSONResponse(renderState(state)), nil
}

func renderState(s control.State) OmniConversation {
	c := OmniConversation{
		SessionID: SessionID(s.ID), Title: s.Name, State: OmniConversationState(s.Phase), Runs: texts(s.Runs), Queued: s.Queued,
		ApprovalMode: modeNames[s.Mode], ReadOnly: s.ReadOnly, LastActiveAt: s.UpdatedAt,
	}
	for _, w := range s.Steering {
		c.PendingSteering = append(c.PendingSteering, PendingSteer{ID: string(w.ID), Text: w.Text})
	}
	return c
}

// modeNames are what S1 calls the modes.
var modeNames = map[wire.ApprovalMode]ApprovalMode{
	"": "", wire.AllowAll: "allow-all", wire.DenyAll: "deny-all", wire.AllowReadonly: "read-only", wire.AlwaysAsk: "always-ask",
}

func modeNamed(name ApprovalMode) (wire.ApprovalMode, error) {
	for mode, known := range modeNames {
		if known == name {
			return mode, nil
		}
	}
	return "", fault.New(fault.InvalidRequest, `approvalMode must be allow-all, deny-all, read-only, always-ask, or "" for what the agent's profile says.`)
}

// SteerOmniTask implements steerOmniTask.
func (h handlers) SteerOmniTask(ctx context.Context, r SteerOmniTaskRequestObject) (SteerOmniTaskResponseObject, error) {
	attempt, err := attemptOf(ctx, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	steer, err := h.Controls.Steer(ctx, caller(ctx), id.Session(r.SessionID), r.Body.Text, attempt)
	if err != nil {
		return nil, hide(err)
	}
	return SteerOmniTask202JSONResponse{SteerID: SteerID(steer)}, nil
}

// WithdrawOmniSteer implements withdrawOmniSteer.
func (h handlers) WithdrawOmniSteer(ctx context.Context, r WithdrawOmniSteerRequestObject) (WithdrawOmniSteerResponseObject, error) {
	steer, err := pathID(id.ParseSteer, r.SteerID)
	if err != nil {
		return nil, err
	}
	if err := h.Runs.TakeBack(ctx, caller(ctx).User, id.Session(r.SessionID), steer); err != nil {
		return nil, hide(err)
	}
	return WithdrawOmniSteer204Response{}, nil
}

// DecideOmniApproval implements decideOmniApproval.
func (h handlers) DecideOmniApproval(ctx context.Context, r DecideOmniApprovalRequestObject) (DecideOmniApprovalResponseObject, error) {
	decision := event.Decision(r.Body.Decision)
	if decision != event.Allow && decision != event.Deny {
		return nil, fault.New(fault.InvalidRequest, "decision must be allow or deny.")
	}
	err := h.Controls.Approve(ctx, caller(ctx), id.Session(r.SessionID), r.ToolCallID, decision, r.Body.Reason)
	if err != nil {
		return nil, hide(err)
	}
	return DecideOmniApproval204Response{}, nil
}

// AbortOmniTasks implements abortOmniTasks.
func (h handlers) AbortOmniTasks(ctx context.Context, r AbortOmniTasksRequestObject) (AbortOmniTasksResponseObject, error) {
	reason := ""
	if r.Body != nil {
		reason = r.Body.Reason
	}
	stopped, err := h.Controls.Abort(ctx, caller(ctx), id.Session(r.SessionID), reason)
	switch {
	case err != nil:
		return nil, hide(err)
	case stopped:
		return AbortOmniTasks202Response{}, nil
	}
	return AbortOmniTasks204Response{}, nil
}

// RetryOmniNow implements retryOmniNow.
func (h handlers) RetryOmniNow(ctx context.Context, r RetryOmniNowRequestObject) (RetryOmniNowResponseObject, error) {
	skipped, err := h.Controls.RetryNow(ctx, caller(ctx), id.Session(r.SessionID))
	if err != nil {
		return nil, hide(err)
	}
	return RetryOmniNow200JSONResponse{Skipped: skipped}, nil
}

// CompactOmniSession implements compactOmniSession.
func (h handlers) CompactOmniSession(ctx context.Context, r CompactOmniSessionRequestObject) (CompactOmniSessionResponseObject, error) {
	run, err := h.Controls.Compact(ctx, caller(ctx), id.Session(r.SessionID), traceOf(ctx))
	if err != nil {
		return nil, hide(err)
	}
	return CompactOmniSession202JSONResponse{RunID: RunID(run)}, nil
}
