package httpapi

import (
	"context"
	"net/http"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// PinMessage implements pinMessage.
func (h handlers) PinMessage(ctx context.Context, r PinMessageRequestObject) (PinMessageResponseObject, error) {
	m, err := h.Changes.Pin(ctx, caller(ctx), id.Message(r.MessageID))
	switch {
	case err != nil:
		return nil, hide(err)
	case m.Pin == nil: // removed again meanwhile
		m.Pin = &chat.Pin{By: caller(ctx).User, At: h.Changes.Now.Moment()}
	}
	return PinMessage200JSONResponse{
		SessionID: SessionID(m.Session), MessageID: MessageID(m.ID), PinnedByUserID: UserID(m.Pin.By), PinnedAt: m.Pin.At,
	}, nil
}

// UnpinMessage implements unpinMessage.
func (h handlers) UnpinMessage(ctx context.Context, r UnpinMessageRequestObject) (UnpinMessageResponseObject, error) {
	if err := h.Changes.Unpin(ctx, caller(ctx), id.Message(r.MessageID)); err != nil {
		return nil, hide(err)
	}
	return UnpinMessage204Response{}, nil
}

// ListPins implements listPins.
func (h handlers) ListPins(ctx context.Context, r ListPinsRequestObject) (ListPinsResponseObject, error) {
	pinned, err := h.Changes.Pinned(ctx, id.Session(r.SessionID))
	if err != nil {
		return nil, err
	}
	return pinPage(PinList{Items: mapAll(pinned, renderMessage)}), nil
}

// pinPage answers with messages whose content is what people wrote.
type pinPage PinList

// VisitListPinsResponse implements the generated answer.
func (p pinPage) VisitListPinsResponse(w http.ResponseWriter) error { return writePlain(w, p) }

// ListReactions implements listReactions.
func (h handlers) ListReactions(ctx context.Context, r ListReactionsRequestObject) (ListReactionsResponseObject, error) {
	all, err := h.Changes.ReactionsTo(ctx, caller(ctx).User, id.Message(r.MessageID))
	if err != nil {
		return nil, hide(err)
	}
	return ListReactions200JSONResponse{Items: mapAll(all, renderReaction)}, nil
}

// AddReaction implements addReaction.
func (h handlers) AddReaction(ctx context.Context, r AddReactionRequestObject) (AddReactionResponseObject, error) {
	all, err := h.Changes.React(ctx, caller(ctx), id.Message(r.MessageID), r.Body.Reaction)
	if err != nil {
		return nil, hide(err)
	}
	return AddReaction200JSONResponse{Items: mapAll(all, renderReaction)}, nil
}

// RemoveReaction implements removeReaction.
func (h handlers) RemoveReaction(ctx context.Context, r RemoveReactionRequestObject) (RemoveReactionResponseObject, error) {
	if err := h.Changes.Unreact(ctx, caller(ctx), id.Message(r.MessageID), r.Params.Reaction); err != nil {
		return nil, hide(err)
	}
	return RemoveReaction204Response{}, nil
}
