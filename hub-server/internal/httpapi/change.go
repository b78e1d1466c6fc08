package httpapi

import (
	"context"
	"net/http"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// EditMessage implements editMessage.
func (h handlers) EditMessage(ctx context.Context, r EditMessageRequestObject) (EditMessageResponseObject, error) {
	n := chat.NewContent{Content: r.Body.Content}
	if r.Body.Attachments != nil {
		n.Attachments = append([]wire.Attachment{}, mapAll(r.Body.Attachments, readAttachment)...)
	}
	mentions, err := bodyIDs("mentions", chat.ParseMemberID, r.Body.Mentions)
	if err != nil {
		return nil, err
	}
	if r.Body.Mentions != nil {
		n.Mentions = mentions
	}
	m, err := h.Changes.Edit(ctx, caller(ctx), id.Message(r.MessageID), n)
	if err != nil {
		return nil, hide(err)
	}
	return oneMessage(renderMessage(m)), nil
}

// RecallMessage implements recallMessage.
func (h handlers) RecallMessage(ctx context.Context, r RecallMessageRequestObject) (RecallMessageResponseObject, error) {
	m, err := h.Changes.Recall(ctx, caller(ctx), id.Message(r.MessageID))
	if err != nil {
		return nil, hide(err)
	}
	return oneMessage(renderMessage(m)), nil
}

// oneMessage answers with a message whose content is what people wrote.
type oneMessage Message

// VisitEditMessageResponse implements the generated answer.
func (m oneMessage) VisitEditMessageResponse(w http.ResponseWriter) error { return writePlain(w, m) }

// VisitRecallMessageResponse implements the generated answer.
func (m oneMessage) VisitRecallMessageResponse(w http.ResponseWriter) error { return writePlain(w, m) }
