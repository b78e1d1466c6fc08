package chat

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Windows say for how long people may change what they have said.
type Windows struct {
	Recall time.Duration
	Edit   time.Duration
}

// Standing is what decides about a change of a message, as it is in the transaction of the change.
type Standing struct {
	Message Message
	Type    SessionType
	Owner   id.User
}

// Change is what somebody wants to do to a message. May judges what the transaction finds; it is pure.
type Change struct {
	By      id.User
	Session id.Session
	Message id.Message
	May     func(Standing) error
}

// Recall takes a message back.
type Recall struct {
	Change
	Frame []byte // payload of message.recall
	Unpin []byte // payload of message.unpin, should it be pinned
}

// Edit gives a message another content.
type Edit struct {
	Change
	Content     []byte
	Attachments []wire.Attachment
	Mentions    []MemberID
}

// ChangeStore changes messages. Each change is one transaction with its outbox rows; NotFound unless By is a member then. Safe for
// concurrent use.
type ChangeStore interface {
	PeopleStore
	// Message returns a message by its id, whoever may read it; NotFound.
	Message(ctx context.Context, m id.Message) (Message, error)
	// MessageIn returns a message of the conversation as REST tells it; NotFound.
	MessageIn(ctx context.Context, s id.Session, m id.Message) (Message, error)
	// Recall erases what the message says, and the reactions and the pin that it has. Nothing happens to one that is recalled already.
	Recall(ctx context.Context, r Recall) error
	// Edit replaces the content and raises the revision. Nothing happens if it says that already.
	Edit(ctx context.Context, e Edit) error
}

// Changes is what people do to messages after they were sent. Safe for concurrent use.
type Changes struct {
	Store     ChangeStore
	Files     *Attachments
	Sessions  *Sessions
	Pins      PinStore
	Reactions ReactionStore
	Forwards  ForwardStore
	Withdraw  Withdrawer
	Now       account.Clock
	Windows   Windows
}

// Withdrawer ends runs that nobody has begun.
type Withdrawer interface {
	// Withdraw cancels those of the runs that wait for an edge. One that is under way or over stays as it is.
	Withdraw(ctx context.Context, by id.User, runs []id.Run) error
}

// Find returns a message that the user may read; NotFound for any other (SEC11).
func (c *Changes) Find(ctx context.Context, user id.User, m id.Message) (Message, error) {
	found, err := c.Store.Message(ctx, m)
	if err != nil {
		return Message{}, err
	}
	in, err := c.Sessions.IsMember(ctx, user, found.Session)
	if err == nil && !in {
		err = fault.New(fault.NotFound, "There is no such message.")
	}
	return found, err
}

// Recall takes a message back and returns what is left of it. Runs that it started and that no edge has heard of are cancelled: their agents
// do not get to read it either.
func (c *Changes) Recall(ctx context.Context, by account.Principal, m id.Message) (Message, error) {
	found, err := c.Find(ctx, by.User, m)
	if err != nil {
		return Message{}, err
	}
	r := Recall{Change: Change{By: by.User, Session: found.Session, Message: m, May: func(s Standing) error {
		return s.mayRecall(by.User, c.Now.Moment(), c.Windows.Recall)
	}}}
	if r.Frame, err = recallFrame(found); err != nil {
		return Message{}, err
	}
	if r.Unpin, err = unpinFrame(found.Session, m); err != nil {
		return Message{}, err
	}
	if err := c.Store.Recall(ctx, r); err != nil {
		return Message{}, err
	}
	if err := c.Withdraw.Withdraw(ctx, by.User, found.Tasks); err != nil {
		return Message{}, err
	}
	return c.Store.MessageIn(ctx, found.Session, m)
}

// mayRecall: a sender for a while, the owner of a conversation always; but in a private one nobody over what the other person has said.
func (s Standing) mayRecall(by id.User, now time.Time, window time.Duration) error {
	own := s.Message.Sender == OfUser(by)
	_, said := s.Message.Sender.User()
	switch {
	case s.Owner == by && (own || s.Type == Group || !said):
		return nil
	case !own:
		return fault.New(fault.Forbidden, "Only who sent a message takes it back, or the owner of the group.")
	case now.Sub(s.Message.CreatedAt) > window:
		return fault.New(fault.RecallTimeout, "A message can be taken back for %s; this one is older. The owner of the conversation can do it.", window)
	}
	return nil
}

// NewContent is what a message says from now on. Attachments nil: those that it has. Mentions nil: those that it has, but for those that its old text
// alone has named.
type NewContent struct {
	Content     []byte
	Attachments []wire.Attachment
	Mentions    []MemberID
}

// Edit changes what a message says, and returns it as it is then.
func (c *Changes) Edit(ctx context.Context, by account.Principal, m id.Message, n NewContent) (Message, error) {
	found, err := c.Find(ctx, by.User, m)
	if err != nil {
		return Message{}, err
	}
	attachments := n.Attachments
	if attachments == nil {
		attachments = slices.Clone(found.Attachments)
	}
	e := Edit{Change: Change{By: by.User, Session: found.Session, Message: m, May: func(s Standing) error {
		return s.mayEdit(by.User, c.Now.Moment(), c.Windows.Edit)
	}}, Attachments: attachments}
	if !found.Recalled { // else the store says that it is
		checked, text, err := Draft{ContentType: found.ContentType, Content: n.Content, Attachments: attachments, Mentions: n.Mentions}.check()
		if err != nil {
			return Message{}, err
		}
		e.Content = checked.Content
		if e.Mentions, err = c.mentions(ctx, by.User, found, n.Mentions, text); err != nil {
			return Message{}, err
		}
		if e.Attachments, err = c.Files.labelled(ctx, by.User, attachments); err != nil {
			return Message{}, err
		}
	}
	if err := c.Store.Edit(ctx, e); err != nil {
		return Message{}, err
	}
	return c.Store.MessageIn(ctx, found.Session, m)
}

// mentions returns whom an edited message mentions: those who are listed and those whom the new text names. Nobody is told, and no agent asked.
func (c *Changes) mentions(ctx context.Context, by id.User, before Message, list []MemberID, text string) ([]MemberID, error) {
	session, err := c.Sessions.Store.WithAgents(ctx, before.Session, by)
	if err != nil {
		return nil, err
	}
	if list == nil {
		old, err := peopleNamed(ctx, c.Store, session.ID, before.text())
		if err != nil {
			return nil, err
		}
		if list, err = c.remaining(ctx, session, before.Mentions, members(agentsNamed(before.text(), session.Members), old)); err != nil {
			return nil, err
		}
	}
	agents, people := listed(list)
	if err := session.agentsIn(agents); err != nil {
		return nil, err
	}
	for _, agent := range agentsNamed(text, session.Members) {
		if !slices.Contains(agents, agent) {
			agents = append(agents, agent)
		}
	}
	if len(agents) > MaxMentions {
		return nil, tooManyMentions()
	}
	people, err = peopleMentioned(ctx, c.Store, session.ID, people, text)
	return members(agents, people), err
}

// remaining returns who was mentioned and not named, and is in the conversation still.
func (c *Changes) remaining(ctx context.Context, s Session, mentioned, named []MemberID) ([]MemberID, error) {
	_, people := listed(mentioned)
	in, err := c.Store.PeopleIn(ctx, s.ID, people)
	if err != nil {
		return nil, fmt.Errorf("look for people who are mentioned: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(mentioned), func(m MemberID) bool {
		user, isUser := m.User()
		_, isAgent := s.member(m)
		return slices.Contains(named, m) || isUser && !slices.Contains(in, user) || !isUser && !isAgent
	}), nil
}

func (s Standing) mayEdit(by id.User, now time.Time, window time.Duration) error {
	switch {
	case s.Message.Sender != OfUser(by):
		return fault.New(fault.Forbidden, "Only who sent a message edits it.")
	case s.Message.Recalled:
		return recalled()
	case s.Message.Forwarded != nil:
		return fault.New(fault.Conflict, "A forwarded message says what somebody else has said. Take it back, or send another.")
	case now.Sub(s.Message.CreatedAt) > window:
		return fault.New(fault.EditTimeout, "A message can be edited for %s; this one is older. Send another.", window)
	}
	return nil
}

func recalled() error {
	return fault.New(fault.Conflict, "The message was taken back.")
}
