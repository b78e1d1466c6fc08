package chat

import (
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// MaxPins is how many messages of a conversation may be pinned.
const MaxPins = 50

// Pin says who pinned a message, and when.
type Pin struct {
	By id.User
	At time.Time
}

// Pinning pins a message, or removes its pin. Frame is the payload of message.pin or message.unpin.
type Pinning struct {
	Change
	At    time.Time
	Frame []byte
}

// PinStore keeps pins. Each change is one transaction with its outbox rows; NotFound unless By is a member then. Safe for concurrent use.
type PinStore interface {
	// Pin pins the message. One that is pinned stays as it is. TooLarge when the conversation has MaxPins.
	Pin(ctx context.Context, p Pinning) error
	// Unpin removes the pin, if there is one.
	Unpin(ctx context.Context, p Pinning) error
	// Pinned returns the pinned messages, the newest pin first.
	Pinned(ctx context.Context, s id.Session) ([]Message, error)
}

// Pin pins a message and returns it as it is then.
func (c *Changes) Pin(ctx context.Context, by account.Principal, m id.Message) (Message, error) {
	p, err := c.pinning(ctx, by.User, m)
	if err != nil {
		return Message{}, err
	}
	if p.Frame, err = pinFrame(p.Session, m, by.User, p.At); err != nil {
		return Message{}, err
	}
	if err := c.Pins.Pin(ctx, p); err != nil {
		return Message{}, err
	}
	return c.Store.MessageIn(ctx, p.Session, m)
}

// Unpin removes a pin.
func (c *Changes) Unpin(ctx context.Context, by account.Principal, m id.Message) error {
	p, err := c.pinning(ctx, by.User, m)
	if err != nil {
		return err
	}
	if p.Frame, err = unpinFrame(p.Session, m); err != nil {
		return err
	}
	return c.Pins.Unpin(ctx, p)
}

// Pinned returns the pinned messages of a conversation, the newest pin first.
func (c *Changes) Pinned(ctx context.Context, s id.Session) ([]Message, error) {
	return c.Pins.Pinned(ctx, s)
}

func (c *Changes) pinning(ctx context.Context, by id.User, m id.Message) (Pinning, error) {
	found, err := c.Find(ctx, by, m)
	return Pinning{Change: Change{By: by, Session: found.Session, Message: m, May: stands}, At: c.Now.Moment()}, err
}

// stands lets everybody do something about a message that was not recalled.
func stands(s Standing) error {
	if s.Message.Recalled {
		return recalled()
	}
	return nil
}

func tooManyPins() error {
	return fault.New(fault.TooLarge, "A conversation has at most %d pinned messages. Remove a pin first.", MaxPins)
}

// RoomForPin says whether a conversation with so many pins takes another.
func RoomForPin(pins int) error {
	if pins >= MaxPins {
		return tooManyPins()
	}
	return nil
}
