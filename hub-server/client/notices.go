package client

import (
	"bytes"
	"context"
	"encoding/json"
)

// notified is the record of what a person is told. What is read stays read, in whatever order frames come.
const notified = "notification"

// readStays says whether after would make something unread that is read.
func readStays(before, after json.RawMessage) bool {
	var was, is struct {
		Read bool `json:"read"`
	}
	return json.Unmarshal(before, &was) == nil && was.Read && json.Unmarshal(after, &is) == nil && !is.Read
}

// Notifications returns what is unread of what the person was told, questions among them, in the order of their ids.
func (r *Reducer) Notifications() []NotificationPayload {
	var unread []NotificationPayload
	for _, n := range recordsOf[NotificationPayload](r, notified) {
		if !n.Read {
			unread = append(unread, n)
		}
	}
	return unread
}

type keptNotice struct {
	NotificationPayload
	raw json.RawMessage
}

func (n *keptNotice) UnmarshalJSON(raw []byte) error {
	n.raw = bytes.Clone(raw)
	return json.Unmarshal(raw, &n.NotificationPayload)
}

// notices tells the newest of what the person was told besides questions, all that is unread, and that the rest of what was told is read.
func (f *Feed) notices(ctx context.Context, tell func(Update) error) error {
	list, err := pages(maxQuestions, func(after *string) ([]keptNotice, string, error) {
		list, err := ask(ctx, tell, func() (keptList[keptNotice, string], error) {
			query := ListNotificationsParams{Unread: after != nil, Limit: new(listSize), After: after}
			return Decode[keptList[keptNotice, string]](f.api.ListNotifications(ctx, &query))
		})
		return list.Items, list.Next, err
	})
	if err != nil {
		return forgivable(err)
	}
	unread := map[string]bool{}
	for i := len(list) - 1; i >= 0; i-- { // the oldest first, as they happened
		n := list[i]
		unread[n.ID] = !n.Read
		frame := HubWebSocketFrame{Type: HubWebSocketFrameTypeNotificationNew, Payload: n.raw}
		if n.Type == NotificationPayloadTypePrompt || f.options.Session != "" && refOf(frame).Session != f.options.Session {
			continue
		}
		if err := f.add(frame.Type, n.raw, tell); err != nil {
			return err
		}
	}
	if len(list) == maxQuestions {
		return nil // there may be more: nothing can be said of the rest
	}
	for _, known := range f.reducer.Notifications() {
		if known.Type == NotificationPayloadTypePrompt || unread[known.ID] {
			continue
		}
		known.Read = true
		if err := f.add(HubWebSocketFrameTypeNotificationNew, known, tell); err != nil {
			return err
		}
	}
	return nil
}
