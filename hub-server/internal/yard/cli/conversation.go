package cli

import (
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

type conversationCmd struct {
	Set      conversationSetCmd      `cmd:"" help:"Say what a group is called, how it looks and what it announces."`
	Mine     conversationMineCmd     `cmd:"" help:"Pin, archive or mute a conversation for yourself."`
	Leave    conversationLeaveCmd    `cmd:"" help:"Leave a group."`
	Give     conversationGiveCmd     `cmd:"" help:"Make somebody else the owner of a group."`
	Dissolve conversationDissolveCmd `cmd:"" help:"Close a group for good; what runs in it is cancelled."`
}

type conversationSetCmd struct {
	Session      string  `arg:"" help:"The conversation: its name or id."`
	Name         *string `placeholder:"TEXT" help:"What it is called."`
	Avatar       *string `placeholder:"URL" help:"An https address; '' for none."`
	Announcement *string `placeholder:"TEXT" help:"What everybody should know; '' for nothing."`
}

// Help is shown below the usage.
func (conversationSetCmd) Help() string {
	return `For the owner. What is not given stays as it is.

Examples:
  yard conversation set demo --name plans --announcement "We meet on Friday."`
}

// Run changes what is said of a group.
func (c conversationSetCmd) Run(s *session) error {
	in := client.SessionInfoInput{Name: c.Name, AvatarURL: c.Avatar, Announcement: c.Announcement}
	return s.onConversation(c.Session, "is as you said", func(h *hub, found client.Session) (client.Session, error) {
		return client.Decode[client.Session](h.API().UpdateSessionInfo(s.ctx, found.ID, in))
	})
}

type conversationMineCmd struct {
	Session  string `arg:"" help:"The conversation: its name or id."`
	Pinned   *bool  `negatable:"" help:"Keep it at the top, or not."`
	Archived *bool  `negatable:"" help:"Put it away, or take it out again."`
	Muted    *bool  `negatable:"" help:"Hear nothing of it, or do."`
}

// Help is shown below the usage.
func (conversationMineCmd) Help() string {
	return `All your devices have it, and nobody else. What is not given stays as it is.

Examples:
  yard conversation mine demo --muted --no-pinned`
}

// Run changes one's own settings.
func (c conversationMineCmd) Run(s *session) error {
	in := client.SessionSettingsInput{Pinned: c.Pinned, Archived: c.Archived, Muted: c.Muted}
	return s.onConversation(c.Session, "is as you want it", func(h *hub, found client.Session) (client.Session, error) {
		return client.Decode[client.Session](h.API().UpdateSessionSettings(s.ctx, found.ID, in))
	})
}

type conversationLeaveCmd struct {
	Session string `arg:"" help:"The conversation: its name or id."`
}

// Run leaves a group.
func (c conversationLeaveCmd) Run(s *session) error {
	return s.onConversation(c.Session, "is left", func(h *hub, found client.Session) (client.Session, error) {
		_, err := client.Decode[client.Nothing](h.API().LeaveSession(s.ctx, found.ID))
		return found, err
	})
}

type conversationGiveCmd struct {
	Session string `arg:"" help:"The conversation: its name or id."`
	Member  string `arg:"" help:"A person in it, by name."`
}

// Run hands a group over.
func (c conversationGiveCmd) Run(s *session) error {
	return s.onConversation(c.Session, "is handed over to "+c.Member, func(h *hub, found client.Session) (client.Session, error) {
		i := slices.IndexFunc(found.Members, func(m client.SessionMember) bool {
			return m.MemberType == client.MemberTypeUser && m.Name == c.Member
		})
		if i < 0 {
			return found, fmt.Errorf("no person called %q is in %s", c.Member, found.Name)
		}
		return client.Decode[client.Session](h.API().TransferSession(s.ctx, found.ID, client.OwnerInput{UserID: found.Members[i].MemberID}))
	})
}

type conversationDissolveCmd struct {
	Session string `arg:"" help:"The conversation: its name or id."`
}

// Run dissolves a group.
func (c conversationDissolveCmd) Run(s *session) error {
	return s.onConversation(c.Session, "is dissolved; it can still be read", func(h *hub, found client.Session) (client.Session, error) {
		return client.Decode[client.Session](h.API().DissolveSession(s.ctx, found.ID))
	})
}

// onConversation finds a conversation, does something with it and says so.
func (s *session) onConversation(ref, done string, do func(*hub, client.Session) (client.Session, error)) error {
	return s.with(func(h *hub) error {
		found, err := h.find.Session(s.ctx, ref)
		if err != nil {
			return err
		}
		now, err := do(h, found)
		if err != nil {
			return err
		}
		return s.print(now, func() error { return s.say("%s %s", now.Name, done) })
	})
}
