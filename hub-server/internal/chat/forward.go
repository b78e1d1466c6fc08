package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// MaxTargets is how many conversations a message is forwarded to at once (S3).
const MaxTargets = 50

// Origin says who has said first what somebody forwards, and when. It does not say where: its readers may be no members there.
type Origin struct {
	SenderType MemberType `json:"sender_type"`
	SenderName string     `json:"sender_name"` // "" of one that is no more
	SentAt     time.Time  `json:"sent_at"`
}

// Target is where a message is forwarded to.
type Target struct {
	Session     id.Session
	ClientMsgID ClientMsgID
}

// Copy is a message that was forwarded; Again if it was there before.
type Copy struct {
	Message
	Again bool
}

// Forwarding is what somebody wants to be stored: copies of what a message said when it had a revision.
type Forwarding struct {
	By       id.User
	Source   id.Message
	Session  id.Session // of the source
	Revision Revision
	Copies   []Message // without numbers
}

// ForwardStore stores copies of messages. Safe for concurrent use.
type ForwardStore interface {
	// NameOf returns the name of a user or an agent; "" when there is none of that id.
	NameOf(ctx context.Context, m MemberID) (string, error)
	// Forward stores the copies, each with the next number of its conversation, all or none, in one transaction with their outbox rows. One whose
	// client_msg_id is there is returned as it was stored then. For the others By must be able to read the source and to post in each conversation:
	// NotFound, SessionDissolved, Conflict when the source was recalled or somebody else has used a client_msg_id; ErrMoved when it has another revision.
	Forward(ctx context.Context, f Forwarding) ([]Copy, error)
}

// Forward says in other conversations what a message says, in the name of who forwards it. The copies are messages of their own: nothing that happens to
// the source later happens to them. They mention nobody and start no run. The same again gets the first answer.
func (c *Changes) Forward(ctx context.Context, by account.Principal, m id.Message, to []Target) ([]Copy, error) {
	switch {
	case len(to) == 0:
		return nil, fault.New(fault.InvalidRequest, "Give at least one conversation to forward to.")
	case len(to) > MaxTargets:
		return nil, fault.New(fault.TooLarge, "A message is forwarded to at most %d conversations at once.", MaxTargets)
	}
	return settled(func() ([]Copy, error) {
		f, err := c.forwarding(ctx, by.User, m, to)
		if err != nil {
			return nil, err
		}
		return c.Forwards.Forward(ctx, f)
	})
}

func (c *Changes) forwarding(ctx context.Context, by id.User, m id.Message, to []Target) (Forwarding, error) {
	source, err := c.Find(ctx, by, m)
	if err != nil {
		return Forwarding{}, err
	}
	said, err := c.said(ctx, source)
	if err != nil {
		return Forwarding{}, err
	}
	f := Forwarding{By: by, Source: m, Session: source.Session, Revision: source.Revision}
	now := c.Now.Moment()
	for _, target := range to {
		one := said
		one.ID, one.Session, one.ClientMsgID, one.Sender, one.CreatedAt = id.NewMessage(), target.Session, target.ClientMsgID, OfUser(by), now
		f.Copies = append(f.Copies, one)
	}
	return f, nil
}

// said is what goes along of a message: what it says and who said it first.
func (c *Changes) said(ctx context.Context, source Message) (Message, error) {
	content, err := withoutTask(source.Content)
	if err != nil {
		return Message{}, err
	}
	said := Message{ContentType: source.ContentType, Content: content, Attachments: source.Attachments, Forwarded: source.Forwarded}
	if said.Forwarded != nil {
		return said, nil
	}
	name, err := c.Forwards.NameOf(ctx, source.Sender)
	if err != nil {
		return Message{}, fmt.Errorf("look for sender: %w", err)
	}
	said.Forwarded = &Origin{SenderType: source.Sender.Type(), SenderName: name, SentAt: source.CreatedAt.UTC()}
	return said, nil
}

// withoutTask is the content of an agent's message without the run that it came of.
func withoutTask(content json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(content, &fields); err != nil {
		return nil, fmt.Errorf("read content: %w", err)
	}
	if _, made := fields["agent_task"]; !made {
		return content, nil
	}
	delete(fields, "agent_task")
	return encode(fields)
}
