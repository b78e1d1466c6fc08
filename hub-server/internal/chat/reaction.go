package chat

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Limits of reactions.
const (
	maxReactionRunes = 64
	MaxReactions     = 1000 // of all people to one message
)

// Reaction is who reacted to a message in one way, in the order of time.
type Reaction struct {
	Reaction string
	Users    []id.User
}

// Reacting adds a reaction of somebody, or takes it back. Frame makes the payload of the frame, with how many have reacted so then.
type Reacting struct {
	Change
	Reaction string
	Frame    func(count int) ([]byte, error)
}

// ReactionStore keeps reactions. Each change is one transaction with its outbox rows; NotFound unless By is a member then. Safe for
// concurrent use.
type ReactionStore interface {
	// React adds the reaction. One that is there stays as it is. TooLarge when the message has MaxReactions.
	React(ctx context.Context, r Reacting) error
	// Unreact takes the reaction back, if it is there.
	Unreact(ctx context.Context, r Reacting) error
}

// React adds somebody's reaction to a message and returns all that it has then.
func (c *Changes) React(ctx context.Context, by account.Principal, m id.Message, reaction string) ([]Reaction, error) {
	r, err := c.reacting(ctx, by.User, m, reaction, "added")
	if err != nil {
		return nil, err
	}
	if err := c.Reactions.React(ctx, r); err != nil {
		return nil, err
	}
	return c.ReactionsTo(ctx, by.User, m)
}

// Unreact takes somebody's reaction back.
func (c *Changes) Unreact(ctx context.Context, by account.Principal, m id.Message, reaction string) error {
	r, err := c.reacting(ctx, by.User, m, reaction, "removed")
	if err != nil {
		return err
	}
	return c.Reactions.Unreact(ctx, r)
}

// ReactionsTo returns all reactions to a message.
func (c *Changes) ReactionsTo(ctx context.Context, user id.User, m id.Message) ([]Reaction, error) {
	found, err := c.Find(ctx, user, m)
	if err != nil {
		return nil, err
	}
	found, err = c.Store.MessageIn(ctx, found.Session, m)
	return found.Reactions, err
}

func (c *Changes) reacting(ctx context.Context, by id.User, m id.Message, reaction, action string) (Reacting, error) {
	reaction = strings.TrimSpace(reaction)
	if n := utf8.RuneCountInString(reaction); n == 0 || n > maxReactionRunes || !utf8.ValidString(reaction) || strings.ContainsFunc(reaction, unicode.IsControl) {
		return Reacting{}, fault.New(fault.InvalidRequest, "reaction must be an emoji or a word of at most %d characters.", maxReactionRunes)
	}
	found, err := c.Find(ctx, by, m)
	r := Reacting{Change: Change{By: by, Session: found.Session, Message: m, May: stands}, Reaction: reaction}
	r.Frame = func(count int) ([]byte, error) {
		return reactionFrame(reactionPayload{Action: action, User: by, Message: m, Session: found.Session, Reaction: reaction, Count: count})
	}
	return r, err
}

// RoomForReaction says whether a message with so many reactions takes another.
func RoomForReaction(reactions int) error {
	if reactions >= MaxReactions {
		return fault.New(fault.TooLarge, "A message has at most %d reactions.", MaxReactions)
	}
	return nil
}
