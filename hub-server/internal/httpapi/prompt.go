package httpapi

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// ListAgentTaskPrompts implements listAgentTaskPrompts.
func (h handlers) ListAgentTaskPrompts(
	ctx context.Context, r ListAgentTaskPromptsRequestObject,
) (ListAgentTaskPromptsResponseObject, error) {
	return h.listPrompts(ctx, prompt.Query{Run: id.Run(r.TaskID)}, r.Params.Limit, r.Params.After)
}

// ListPrompts implements listPrompts.
func (h handlers) ListPrompts(ctx context.Context, r ListPromptsRequestObject) (ListPromptsResponseObject, error) {
	q := prompt.Query{User: caller(ctx).User}
	if r.Params.State != nil {
		if !r.Params.State.Valid() {
			return nil, fault.New(fault.InvalidRequest, "state must be pending, answered, expired or cancelled.")
		}
		q.State = prompt.State(*r.Params.State)
	}
	return h.listPrompts(ctx, q, r.Params.Limit, r.Params.After)
}

// listPrompts answers with a page. The mark of the next one is the last question of this one.
func (h handlers) listPrompts(ctx context.Context, q prompt.Query, limit *Limit, after *After) (page promptList, err error) {
	if q.Limit, err = pageLimit(limit, 50, prompt.MaxPage); err != nil {
		return page, err
	}
	if q.After, err = id.ParseRequest(valueOf(after)); err != nil && after != nil {
		return page, fault.New(fault.CursorInvalid, "after is not the next of a page of this list. Begin with the first page.")
	}
	if page.prompts, err = h.Prompts.List(ctx, q); err != nil {
		return page, err
	}
	if len(page.prompts) == q.Limit {
		page.next = PageToken(page.prompts[q.Limit-1].ID)
	}
	return page, nil
}

// GetPrompt implements getPrompt.
func (h handlers) GetPrompt(ctx context.Context, r GetPromptRequestObject) (GetPromptResponseObject, error) {
	request, err := pathID(id.ParseRequest, r.RequestID)
	if err != nil {
		return nil, err
	}
	found, err := h.Prompts.Get(ctx, id.Run(r.TaskID), request)
	if err != nil {
		return nil, hide(err)
	}
	return onePrompt(found), nil
}

// AnswerPrompt implements answerPrompt.
func (h handlers) AnswerPrompt(ctx context.Context, r AnswerPromptRequestObject) (AnswerPromptResponseObject, error) {
	request, err := pathID(id.ParseRequest, r.RequestID)
	if err != nil {
		return nil, err
	}
	answered, err := h.Prompts.Answer(ctx, caller(ctx), prompt.Reply{Run: id.Run(r.TaskID), Answer: wire.Answer{
		RequestID: request, Decision: event.Decision(r.Body.Decision), Reason: r.Body.Reason, UpdatedInput: given(r.Body.UpdatedInput),
		Response: given(r.Body.Response), Digest: r.Body.Digest,
	}})
	if err != nil {
		return nil, hide(err)
	}
	return onePrompt(answered), nil
}

// given takes null for absent, as everywhere.
func given(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// renderPrompt leaves out the payload: see appendPrompt.
func renderPrompt(p prompt.Prompt) Prompt {
	out := Prompt{
		RequestID: RequestID(p.ID), TaskID: RunID(p.Run), SessionID: SessionID(p.Session), AgentID: AgentID(p.Agent), EdgeID: EdgeID(p.Edge),
		Kind: PromptKind(p.Kind), State: PromptState(p.State), Digest: p.Digest, EventSeq: int64(p.Seq),
		AskedAt: p.AskedAt, ExpiresAt: p.ExpiresAt,
	}
	if p.Answer != nil {
		out.Answer = renderAnswer(*p.Answer)
	}
	return out
}

func renderAnswer(a prompt.Answer) PromptAnswer {
	return PromptAnswer{
		Decision: PromptDecision(a.Decision), By: PromptAnswerBy(a.By), UserID: UserID(a.User), DeviceID: DeviceID(a.Device), Reason: a.Reason,
		UpdatedInput: a.UpdatedInput, Response: a.Response, AnsweredAt: a.At, DeliveredAt: a.DeliveredAt, Refused: string(a.Refused),
		ContinuedByRunID: RunID(a.ContinuedBy),
	}
}

// recordedAnswer is what an answer learns that came too late; nothing for other errors.
func recordedAnswer(err error) PromptAnswer {
	var settled *prompt.SettledError
	if errors.As(err, &settled) && settled.Prompt.Answer != nil {
		return renderAnswer(*settled.Prompt.Answer)
	}
	return PromptAnswer{}
}
