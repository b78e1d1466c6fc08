package cli

import (
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

type friendsCmd struct{}

// Run lists friends, who of them is online, requests and blocks.
func (friendsCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		all, err := client.Decode[client.ContactList](h.API().ListContacts(s.ctx))
		if err != nil {
			return err
		}
		now := time.Now()
		return table(s, all.Items, "no friends yet; `yard friend request NAME` asks somebody", []string{"name", "state", "seen", "since", "message", "id"},
			func(c client.Contact) []string {
				return []string{c.Username, standing(c), seen(now, c), screen.Ago(now, c.Since), c.Message, c.UserID}
			})
	})
}

// standing says how somebody and I stand.
func standing(c client.Contact) string {
	switch c.State {
	case client.ContactStateFriend:
		return "friend"
	case client.ContactStateRequestReceived:
		return "asks you"
	case client.ContactStateRequestSent:
		return "is asked"
	case client.ContactStateBlocked:
		return "blocked"
	}
	return string(c.State)
}

// seen says whether a friend is online, or for how long they have not been; "" of anybody else.
func seen(now time.Time, c client.Contact) string {
	switch {
	case c.State != client.ContactStateFriend:
		return ""
	case c.Online:
		return "online"
	}
	return screen.Ago(now, c.LastSeenAt)
}

type friendCmd struct {
	Request friendRequestCmd `cmd:"" help:"Ask somebody to be a friend."`
	Accept  friendAcceptCmd  `cmd:"" help:"Make a friend of who has asked you."`
	Decline friendDeclineCmd `cmd:"" help:"Take a request off your list; who asked is not told."`
	Remove  friendRemoveCmd  `cmd:"" help:"End a friendship, or take your request back; nobody is told."`
	Block   friendBlockCmd   `cmd:"" help:"Be nobody to somebody."`
	Unblock friendUnblockCmd `cmd:"" help:"End a block."`
}

type friendRequestCmd struct {
	Name    string `arg:"" help:"Whom: exactly the name that they log in with."`
	Message string `short:"m" placeholder:"TEXT" help:"What to tell them with it."`
}

// Help is shown below the usage.
func (friendRequestCmd) Help() string {
	return `Whoever has asked you is your friend then, at once.

Examples:
  yard friend request grace --message "It is me, Ada."`
}

// Run asks.
func (c friendRequestCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		now, err := client.Decode[client.Contact](h.API().RequestContact(s.ctx, client.ContactInput{Username: c.Name, Message: c.Message}))
		if err != nil {
			return err
		}
		return s.print(now, func() error {
			if now.State == client.ContactStateFriend {
				return s.say("%s is your friend", now.Username)
			}
			return s.say("%s is asked", now.Username)
		})
	})
}

type friendAcceptCmd struct {
	Name string `arg:"" help:"Who has asked; 'yard friends' lists them."`
}

// Help is shown below the usage.
func (friendAcceptCmd) Help() string { return "Examples:\n  yard friend accept grace" }

// Run accepts a request.
func (c friendAcceptCmd) Run(s *session) error {
	return s.onContact(c.Name, "is your friend", func(h *hub, who client.Contact) (client.Contact, error) {
		if who.State == client.ContactStateFriend {
			return who, nil
		}
		if who.State != client.ContactStateRequestReceived {
			return who, misused("%s has not asked you; `yard friend request %s` asks them", who.Username, who.Username)
		}
		return client.Decode[client.Contact](h.API().AcceptContact(s.ctx, who.RequestID))
	})
}

type friendDeclineCmd struct {
	Name string `arg:"" help:"Who has asked; 'yard friends' lists them."`
}

// Run declines a request.
func (c friendDeclineCmd) Run(s *session) error {
	return s.onContact(c.Name, "is off your list", func(h *hub, who client.Contact) (client.Contact, error) {
		if who.State != client.ContactStateRequestReceived {
			return who, misused("%s has not asked you; `yard friends` says how you stand", who.Username)
		}
		_, err := client.Decode[client.Nothing](h.API().DeclineContact(s.ctx, who.RequestID))
		return who, err
	})
}

type friendRemoveCmd struct {
	Name string `arg:"" help:"The friend, or whom you have asked."`
}

// Run ends a friendship.
func (c friendRemoveCmd) Run(s *session) error {
	return s.onContact(c.Name, "is no friend of yours", func(h *hub, who client.Contact) (client.Contact, error) {
		_, err := client.Decode[client.Nothing](h.API().RemoveContact(s.ctx, who.UserID))
		return who, err
	})
}

type friendBlockCmd struct {
	Name string `arg:"" help:"Whom: exactly the name that they log in with."`
}

// Help is shown below the usage.
func (friendBlockCmd) Help() string {
	return `They can neither find nor ask you, nor bring you into a conversation; to them it is as if you did not exist. A conversation that you have
together stays: leave or mute it.

Examples:
  yard friend block mallory`
}

// Run blocks somebody.
func (c friendBlockCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		who, err := h.find.Person(s.ctx, c.Name)
		if err != nil {
			return err
		}
		if _, err := client.Decode[client.Nothing](h.API().BlockContact(s.ctx, who.UserID)); err != nil {
			return err
		}
		return s.print(who, func() error { return s.say("%s is blocked", who.Username) })
	})
}

type friendUnblockCmd struct {
	Name string `arg:"" help:"Who is blocked; 'yard friends' lists them."`
}

// Run ends a block.
func (c friendUnblockCmd) Run(s *session) error {
	return s.onContact(c.Name, "is not blocked", func(h *hub, who client.Contact) (client.Contact, error) {
		_, err := client.Decode[client.Nothing](h.API().UnblockContact(s.ctx, who.UserID))
		return who, err
	})
}

// onContact finds a contact, does something and says so.
func (s *session) onContact(ref, done string, do func(*hub, client.Contact) (client.Contact, error)) error {
	return s.with(func(h *hub) error {
		who, err := h.find.Contact(s.ctx, ref)
		if err != nil {
			return err
		}
		now, err := do(h, who)
		if err != nil {
			return err
		}
		return s.print(now, func() error { return s.say("%s %s", who.Username, done) })
	})
}
