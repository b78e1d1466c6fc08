package cli

import (
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

type notificationsCmd struct {
	Unread bool `help:"Only what is unread."`
	Limit  int  `short:"n" default:"50" help:"How many, the newest first (default: 50)."`
}

// Help is shown below the usage.
func (notificationsCmd) Help() string {
	return `Mentions, invitations, requests, ended runs, and what agents ask. What belongs to a conversation is read when the conversation is.

Examples:
  yard notifications --unread`
}

// Run lists notifications.
func (c notificationsCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		all, err := h.find.Notifications(s.ctx, c.Limit, c.Unread)
		if err != nil {
			return err
		}
		names, now := newBook(h.API()), time.Now()
		return table(s, all, "nothing to tell", []string{"since", "read", "what", "id"}, func(n client.NotificationPayload) []string {
			read := "yes"
			if !n.Read {
				read = "no"
			}
			return []string{screen.Ago(now, n.CreatedAt), read, s.told(names, n), n.ID}
		})
	})
}

// told says what a notification tells.
func (s *session) told(names *book, n client.NotificationPayload) string {
	var about struct {
		Session client.SessionID `json:"session_id"`
		Agent   client.AgentID   `json:"agent_id"`
		By      client.UserID    `json:"by_user_id"`
		State   client.RunState  `json:"state"`
		Name    string           `json:"name"`
		Kind    string           `json:"kind"`
		Message string           `json:"message"`
		Asked   json.RawMessage  `json:"payload"`
	}
	if json.Unmarshal(n.Payload, &about) != nil {
		return string(n.Type)
	}
	if about.Session != "" && names.sessions[about.Session] == "" {
		names.ask(s.ctx, about.Session)
	}
	in := names.Session(about.Session)
	switch n.Type {
	case client.NotificationPayloadTypeMention:
		return names.Member(about.By) + " mentions you in " + in
	case client.NotificationPayloadTypeGroupInvite:
		return names.Member(about.By) + " has brought you into " + in
	case client.NotificationPayloadTypeFriendRequest:
		return "somebody asks to be your friend: " + about.Message + " (`yard friends`)"
	case client.NotificationPayloadTypeAgentDone:
		return names.Member(about.Agent) + " has ended in " + in + ": " + string(about.State)
	case client.NotificationPayloadTypePrompt:
		return names.Member(about.Agent) + " asks in " + in + ": " + screen.Question(about.Asked)
	}
	return string(n.Type) + " " + about.Kind
}

type notificationCmd struct {
	Read    notificationReadCmd    `cmd:"" help:"Mark one as read, on all your devices."`
	ReadAll notificationReadAllCmd `cmd:"" name:"read-all" help:"Mark all as read; what agents ask stays until it is answered."`
}

type notificationReadCmd struct {
	Ref string `arg:"" name:"notification" help:"The notification: the beginning of its id is enough."`
}

// Help is shown below the usage.
func (notificationReadCmd) Help() string { return "Examples:\n  yard notification read ntf_01912f5c" }

// Run marks one as read.
func (c notificationReadCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		found, err := h.find.Notification(s.ctx, c.Ref)
		if err != nil {
			return err
		}
		if _, err := client.Decode[client.Nothing](h.API().ReadNotification(s.ctx, found.ID)); err != nil {
			return err
		}
		found.Read = true
		return s.print(found, func() error { return s.say("%s is read", found.ID) })
	})
}

type notificationReadAllCmd struct{}

// Run marks as read what there is now.
func (notificationReadAllCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		newest, err := h.find.Notifications(s.ctx, 1, false)
		if err != nil {
			return err
		}
		if len(newest) > 0 { // by the hub's clock: what comes after this list stays unread
			if _, err := client.Decode[client.Nothing](h.API().ReadAllNotifications(s.ctx, client.ReadAllInput{UpTo: newest[0].CreatedAt})); err != nil {
				return err
			}
		}
		return s.print(struct {
			Read bool `json:"read"`
		}{true}, func() error { return s.say("everything is read") })
	})
}
