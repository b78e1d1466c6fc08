package lookup

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// Notifications lists up to limit notifications, the newest first.
func (f Finder) Notifications(ctx context.Context, limit int, unread bool) ([]client.NotificationPayload, error) {
	return pages(limit, func(size int, after *string) ([]client.NotificationPayload, string, error) {
		query := client.ListNotificationsParams{Unread: unread, Limit: &size, After: after}
		list, err := client.Decode[client.NotificationList](f.api.ListNotifications(ctx, &query))
		return list.Items, list.Next, err
	})
}

// Notification finds a notification.
func (f Finder) Notification(ctx context.Context, ref string) (client.NotificationPayload, error) {
	all, err := f.Notifications(ctx, pageSize*maxPages, false)
	if err != nil {
		return client.NotificationPayload{}, fmt.Errorf("find notification: %w", err)
	}
	return choose(kind{"notification", "yard notifications"}, ref, all, func(n client.NotificationPayload) thing { return thing{n.ID, ""} })
}
