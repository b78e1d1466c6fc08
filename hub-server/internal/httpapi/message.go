package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// SendMessage implements sendMessage.
func (h handlers) SendMessage(ctx context.Context, r SendMessageRequestObject) (SendMessageResponseObject, error) {
	draft, err := draftOf(ctx, id.Session(r.SessionID), *r.Body)
	if err != nil {
		return nil, err
	}
	receipt, err := h.Messages.Post(ctx, caller(ctx), draft)
	if err != nil {
		return nil, err
	}
	return SendMessage201JSONResponse{
		MessageID: MessageID(receipt.Message), SeqID: SeqID(receipt.Seq), CreatedAt: receipt.CreatedAt,
		TaskIds: texts(receipt.Tasks), EventsUrls: mapAll(receipt.Tasks, eventsURL), Deduplicated: receipt.Deduplicated,
	}, nil
}

func draftOf(ctx context.Context, session id.Session, b MessageInput) (chat.Draft, error) {
	client, err := chat.ParseClientMsgID(b.ClientMsgID)
	if err != nil {
		return chat.Draft{}, err
	}
	mentions, err := bodyIDs("mentions", chat.ParseMemberID, b.Mentions)
	if err != nil {
		return chat.Draft{}, err
	}
	reply, err := optionalID("reply_to_message_id", id.ParseMessage, b.ReplyToMessageID)
	if err != nil {
		return chat.Draft{}, err
	}
	return chat.Draft{
		Session: session, ClientMsgID: client, ContentType: chat.ContentType(b.ContentType), Content: b.Content,
		Attachments: mapAll(b.Attachments, readAttachment), Mentions: mentions, ReplyTo: reply, TraceID: traceOf(ctx),
	}, nil
}

// ListMessages implements listMessages.
func (h handlers) ListMessages(ctx context.Context, r ListMessagesRequestObject) (ListMessagesResponseObject, error) {
	limit, err := pageLimit(r.Params.Limit, 50, 100)
	if err != nil {
		return nil, err
	}
	before, err := sequence("before_seq", r.Params.BeforeSeq, 1)
	if err != nil {
		return nil, err
	}
	page, err := h.Messages.Before(ctx, caller(ctx).User, id.Session(r.SessionID), chat.Seq(before), limit)
	if err != nil {
		return nil, hide(err)
	}
	return messagePage(renderPage(page)), nil
}

// SyncMessages implements syncMessages.
func (h handlers) SyncMessages(ctx context.Context, r SyncMessagesRequestObject) (SyncMessagesResponseObject, error) {
	limit, err := pageLimit(r.Params.Limit, 100, 500)
	if err != nil {
		return nil, err
	}
	after, err := sequence("after_seq", r.Params.AfterSeq, 0)
	if err != nil {
		return nil, err
	}
	page, err := h.Messages.After(ctx, caller(ctx).User, id.Session(r.SessionID), chat.Seq(after), limit)
	if err != nil {
		return nil, hide(err)
	}
	return messagePage(renderPage(page)), nil
}

// ListMessageChanges implements listMessageChanges.
func (h handlers) ListMessageChanges(ctx context.Context, r ListMessageChangesRequestObject) (ListMessageChangesResponseObject, error) {
	limit, err := pageLimit(r.Params.Limit, 100, 500)
	if err != nil {
		return nil, err
	}
	after, err := sequence("after_change", r.Params.AfterChange, 0)
	if err != nil {
		return nil, err
	}
	page, err := h.Messages.ChangedAfter(ctx, caller(ctx).User, id.Session(r.SessionID), chat.ChangeSeq(after), limit)
	if err != nil {
		return nil, hide(err)
	}
	return changePage(MessageChangeList{
		Items: mapAll(page.Messages, renderMessage), Next: int64(page.Next), LastChange: ChangeSeq(page.Through),
	}), nil
}

// MarkRead implements markRead.
func (h handlers) MarkRead(ctx context.Context, r MarkReadRequestObject) (MarkReadResponseObject, error) {
	to, err := sequence("last_read_seq", &r.Body.LastReadSeq, 0)
	if err != nil {
		return nil, err
	}
	by := caller(ctx)
	mark, err := h.Messages.MarkRead(ctx, by.User, id.Session(r.SessionID), chat.Seq(to))
	if err != nil {
		return nil, hide(err)
	}
	return MarkRead200JSONResponse{
		SessionID: r.SessionID, UserID: UserID(by.User), LastReadSeq: SeqID(mark.LastRead), LastSeq: SeqID(mark.LastSeq),
		LastChange: ChangeSeq(mark.LastChange), Unread: mark.Unread,
	}, nil
}

func renderPage(p chat.Page) MessageList {
	return MessageList{Items: mapAll(p.Messages, renderMessage), Next: int64(p.Next), LastSeq: SeqID(p.LastSeq), LastChange: ChangeSeq(p.LastChange)}
}

func renderMessage(m chat.Message) Message {
	m = m.Told()
	var pinned MessagePinned
	if m.Pin != nil {
		pinned = MessagePinned{PinnedByUserID: UserID(m.Pin.By), PinnedAt: m.Pin.At}
	}
	return Message{
		ID: MessageID(m.ID), MessageID: MessageID(m.ID), SessionID: SessionID(m.Session), SeqID: SeqID(m.Seq),
		ClientMsgID: ClientMsgID(m.ClientMsgID), SenderType: SenderType(m.Sender.Type()), SenderID: MemberID(m.Sender),
		ContentType: ContentType(m.ContentType), Content: m.Content,
		Attachments: mapAll(m.Attachments, renderAttachment), Mentions: texts(m.Mentions),
		ReplyToMessageID: MessageID(m.ReplyTo), TaskIds: texts(m.Tasks), CreatedAt: m.CreatedAt,
		EditedAt: m.EditedAt, Revision: int64(m.Revision), Recalled: m.Recalled,
		Reactions: mapAll(m.Reactions, renderReaction), Pinned: pinned, Forwarded: renderOrigin(m.Forwarded),
	}
}

func renderReaction(r chat.Reaction) Reaction {
	return Reaction{Reaction: r.Reaction, Count: len(r.Users), UserIds: texts(r.Users)}
}

func readAttachment(a Attachment) wire.Attachment {
	return wire.Attachment{Kind: wire.AttachmentKind(a.Kind), URL: a.URL, Filename: a.Filename, MIMEType: a.MimeType, Size: a.Size}
}

func renderAttachment(a wire.Attachment) Attachment {
	return Attachment{Kind: AttachmentKind(a.Kind), URL: a.URL, Filename: a.Filename, MimeType: a.MIMEType, Size: a.Size}
}
