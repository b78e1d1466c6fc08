package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
)

// ListNotifications implements listNotifications.
func (h handlers) ListNotifications(ctx context.Context, r ListNotificationsRequestObject) (ListNotificationsResponseObject, error) {
	limit, err := pageLimit(r.Params.Limit, 50, notice.MaxPage)
	if err != nil {
		return nil, err
	}
	after, err := notice.ParsePageMark(valueOf(r.Params.After))
	if err != nil {
		return nil, err
	}
	page, err := h.Notices.List(ctx, notice.Query{User: caller(ctx).User, Unread: r.Params.Unread, After: after, Limit: limit})
	if err != nil {
		return nil, err
	}
	return noticePage(page), nil
}

// ReadNotification implements readNotification.
func (h handlers) ReadNotification(ctx context.Context, r ReadNotificationRequestObject) (ReadNotificationResponseObject, error) {
	if _, err := h.Notices.Read(ctx, caller(ctx).User, r.NotificationID); err != nil {
		return nil, hide(err)
	}
	return ReadNotification204Response{}, nil
}

// ReadAllNotifications implements readAllNotifications.
func (h handlers) ReadAllNotifications(
	ctx context.Context, r ReadAllNotificationsRequestObject,
) (ReadAllNotificationsResponseObject, error) {
	if err := h.Notices.ReadAll(ctx, caller(ctx).User, r.Body.UpTo); err != nil {
		return nil, err
	}
	return ReadAllNotifications204Response{}, nil
}

// noticePage answers with what notification.new says, byte for byte.
type noticePage notice.Page

// VisitListNotificationsResponse implements the generated answer.
func (p noticePage) VisitListNotificationsResponse(w http.ResponseWriter) error {
	body := []byte(`{"items":[`)
	for i, item := range p.Items {
		if i > 0 {
			body = append(body, ',')
		}
		if item.Question == nil {
			body = append(body, notice.Frame(item.Notice)...)
			continue
		}
		var err error
		if body, err = appendQuestion(body, *item.Question); err != nil {
			return err
		}
	}
	body = append(body, ']')
	if next := p.Next.String(); next != "" {
		body = fmt.Appendf(body, `,"next":%q`, next)
	}
	return writeJSON(w, fmt.Appendf(body, `,"unread":%d}`, p.Unread))
}

// appendQuestion writes a question as the notification that it is.
func appendQuestion(dst []byte, q prompt.Prompt) ([]byte, error) {
	payload, err := appendPrompt(nil, q)
	if err != nil {
		return dst, err
	}
	head, err := json.Marshal(struct {
		ID        string    `json:"id"`
		Type      string    `json:"type"`
		Read      bool      `json:"read"`
		CreatedAt time.Time `json:"created_at"`
	}{string(q.ID), "prompt", q.State != prompt.Pending, q.AskedAt})
	if err != nil {
		return dst, fmt.Errorf("encode notification: %w", err)
	}
	return splice(dst, head, payload), nil
}
