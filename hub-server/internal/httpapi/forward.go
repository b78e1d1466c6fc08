package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// ForwardMessage implements forwardMessage.
func (h handlers) ForwardMessage(ctx context.Context, r ForwardMessageRequestObject) (ForwardMessageResponseObject, error) {
	targets := make([]chat.Target, len(r.Body.To))
	for i, to := range r.Body.To {
		session, err := bodyID("session_id", id.ParseSession, to.SessionID)
		if err != nil {
			return nil, err
		}
		client, err := chat.ParseClientMsgID(to.ClientMsgID)
		if err != nil {
			return nil, err
		}
		targets[i] = chat.Target{Session: session, ClientMsgID: client}
	}
	copies, err := h.Changes.Forward(ctx, caller(ctx), id.Message(r.MessageID), targets)
	if err != nil {
		return nil, err
	}
	return ForwardMessage201JSONResponse{Items: mapAll(copies, renderCopy)}, nil
}

func renderCopy(c chat.Copy) ForwardedCopy {
	return ForwardedCopy{
		SessionID: SessionID(c.Session), MessageID: MessageID(c.ID), SeqID: SeqID(c.Seq), CreatedAt: c.CreatedAt, Deduplicated: c.Again,
	}
}

func renderOrigin(o *chat.Origin) MessageOrigin {
	if o == nil {
		return MessageOrigin{}
	}
	return MessageOrigin{SenderType: SenderType(o.SenderType), SenderName: o.SenderName, SentAt: o.SentAt}
}
