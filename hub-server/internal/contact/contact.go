// Package contact holds who knows whom: requests, friends and blocks. People are found by their exact login name and in no other way. Whoever is
// blocked gets the answers that a stranger's name would get.
package contact

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	// MaxContacts is how many a list may have.
	MaxContacts = 100_000

	contactsByDefault = 2000
	openByDefault     = 100
	maxMessageChars   = 500
)

// Limits are what one person's list may have at most. 0 is 2000 and 100.
type Limits struct {
	All  int // friends, requests of either side, blocks
	Open int // own requests that wait for an answer
}

// Mine refuses another request of somebody who has so many contacts, and so many requests that wait.
func (l Limits) Mine(all, open int) error {
	if most := cmp.Or(l.Open, openByDefault); open >= most {
		return fault.New(fault.TooLarge, "%d of your requests wait for an answer, as many as may (HUB_FRIEND_REQUESTS_OPEN). Take one back first.", open)
	}
	if most := cmp.Or(l.All, contactsByDefault); all >= most {
		return fault.New(fault.TooLarge, "Your list has %d people, as many as it may have (HUB_CONTACTS_PER_USER). Remove somebody first.", all)
	}
	return nil
}

// Theirs refuses a request to somebody who has so many contacts.
func (l Limits) Theirs(all int) error {
	if all >= cmp.Or(l.All, contactsByDefault) {
		return fault.New(fault.TooLarge, "This person's list is full (HUB_CONTACTS_PER_USER). They must remove somebody first.")
	}
	return nil
}

// State is how somebody stands to the owner of the list.
type State string

// States.
const (
	Friend   State = "friend"
	Sent     State = "request_sent"
	Received State = "request_received"
	Blocked  State = "blocked"
)

// Contact is one line of a person's list.
type Contact struct {
	Person
	State   State
	Request id.Request // that it began with; "" for a block
	Message string     // of the request
	Since   time.Time

	// Of a friend: whether a device of theirs is connected, and if not, when one was seen last; zero if that is not known.
	Online   bool
	LastSeen time.Time
}

// Person is what people see of one another.
type Person struct {
	ID          id.User
	Name        string
	DisplayName string
}

// Asking is a request that is ready to be stored.
type Asking struct {
	ID      id.Request
	From    id.User
	To      id.User
	Message string
	Frame   json.RawMessage // payload of friend.request
	Notice  notice.Notice
	Limits  Limits
}

// Store keeps contacts. Each write is one transaction with its outbox rows; safe for concurrent use.
type Store interface {
	// Find returns the person of that login name; NotFound if there is none, or they have blocked by.
	Find(ctx context.Context, by id.User, name string) (Person, error)
	// Contacts returns the whole list of a person, by name.
	Contacts(ctx context.Context, of id.User) ([]Contact, error)
	// Ask stores a request, or makes friends of two who have both asked. What stands already stays. NotFound if To has blocked From, Conflict if
	// From has blocked To, TooLarge beyond a limit.
	Ask(ctx context.Context, a Asking) (Contact, error)
	// Accept makes friends; NotFound unless the request waits for by or was accepted by them.
	Accept(ctx context.Context, by id.User, request id.Request) (Contact, error)
	// Decline takes a request off the list of by; NotFound unless it waits for them. Who asked is not told, and sees it waiting.
	Decline(ctx context.Context, by id.User, request id.Request) error
	// Remove ends a friendship or takes a request back; nobody is told. Without one it does nothing. It says whether they were friends.
	Remove(ctx context.Context, by, other id.User) (ended bool, err error)
	// Block takes other off the list, and by off theirs; NotFound if there is nobody of that id, TooLarge beyond a limit. It says whether they were
	// friends.
	Block(ctx context.Context, by, other id.User, l Limits) (ended bool, err error)
	// Unblock ends a block. Without one it does nothing.
	Unblock(ctx context.Context, by, other id.User) error
}

// Contacts is what people do about one another. Safe for concurrent use.
type Contacts struct {
	Store    Store
	Presence Presence
	Limits   Limits

	// Changed is told of two people who may have become friends, or are not any more. It must not block.
	Changed func(a, b id.User)
}

// Presence knows who is online. Safe for concurrent use; it does not block.
type Presence interface {
	Online(u id.User) bool
}

// Find returns a person by their exact login name; NotFound.
func (c *Contacts) Find(ctx context.Context, by id.User, name string) (Person, error) {
	return c.Store.Find(ctx, by, name)
}

// List returns the caller's contacts, by name.
func (c *Contacts) List(ctx context.Context, of id.User) ([]Contact, error) {
	all, err := c.Store.Contacts(ctx, of)
	for i := range all {
		all[i] = c.seen(all[i])
	}
	return all, err
}

// seen adds what only presence knows. Of whoever is no friend nothing is said.
func (c *Contacts) seen(one Contact) Contact {
	if one.State != Friend {
		one.LastSeen = time.Time{}
		return one
	}
	if one.Online = c.Presence.Online(one.ID); one.Online {
		one.LastSeen = time.Time{}
	}
	return one
}

// parted says that two are friends no more. Of those who were none nothing is said: it would tell whether a stranger is online.
func (c *Contacts) parted(by, other id.User, ended bool) {
	if ended {
		c.Changed(by, other)
	}
}

// stands is the answer to who has changed how two people stand.
func (c *Contacts) stands(by id.User, now Contact, err error) (Contact, error) {
	if err == nil && now.State == Friend {
		c.Changed(by, now.ID)
	}
	return c.seen(now), err
}

// Ask asks somebody to be a friend. Whoever has asked the caller before, or has the caller on the list already, is one then.
func (c *Contacts) Ask(ctx context.Context, by account.Principal, name, message string) (Contact, error) {
	if n := utf8.RuneCountInString(message); n > maxMessageChars || !utf8.ValidString(message) {
		return Contact{}, fault.New(fault.InvalidRequest, "message must have at most %d characters.", maxMessageChars)
	}
	to, err := c.Store.Find(ctx, by.User, name)
	if err != nil {
		return Contact{}, err
	}
	if to.ID == by.User {
		return Contact{}, fault.New(fault.InvalidRequest, "You need not ask yourself: give somebody else's username.")
	}
	a := Asking{ID: id.NewRequest(), From: by.User, To: to.ID, Message: message, Limits: c.Limits}
	if a.Frame, err = requestFrame(a); err != nil {
		return Contact{}, err
	}
	if a.Notice, err = notice.Befriend(to.ID, a.ID, a.Frame); err != nil {
		return Contact{}, err
	}
	now, err := c.Store.Ask(ctx, a)
	return c.stands(by.User, now, err)
}

// Accept makes a friend of who has asked.
func (c *Contacts) Accept(ctx context.Context, by id.User, request id.Request) (Contact, error) {
	now, err := c.Store.Accept(ctx, by, request)
	return c.stands(by, now, err)
}

// Decline does not.
func (c *Contacts) Decline(ctx context.Context, by id.User, request id.Request) error {
	return c.Store.Decline(ctx, by, request)
}

// Remove ends a friendship without a word, or takes a request back.
func (c *Contacts) Remove(ctx context.Context, by, other id.User) error {
	ended, err := c.Store.Remove(ctx, by, other)
	c.parted(by, other, ended)
	return err
}

// Block makes the caller a stranger to somebody, who can neither ask them nor bring them into a conversation.
func (c *Contacts) Block(ctx context.Context, by, other id.User) error {
	if by == other {
		return fault.New(fault.InvalidRequest, "You cannot block yourself.")
	}
	ended, err := c.Store.Block(ctx, by, other, c.Limits)
	c.parted(by, other, ended)
	return err
}

// Unblock ends a block. Friends they are not again.
func (c *Contacts) Unblock(ctx context.Context, by, other id.User) error {
	return c.Store.Unblock(ctx, by, other)
}

func requestFrame(a Asking) (json.RawMessage, error) {
	return event.Encode(struct {
		Request id.Request `json:"request_id"`
		From    id.User    `json:"from_user_id"`
		To      id.User    `json:"to_user_id"`
		Message string     `json:"message,omitempty"`
	}{a.ID, a.From, a.To, a.Message})
}

// AcceptedFrame is the payload of friend.accepted: who the recipient's new friend is. Ids need no escaping.
func AcceptedFrame(request id.Request, friend id.User) []byte {
	return fmt.Appendf(nil, `{"request_id":%q,"user_id":%q}`, request, friend)
}

// NotThere is what a name or an id gets that is nobody's, or somebody's who does not want to be found by whoever asks.
func NotThere() error { return fault.New(fault.NotFound, "There is no such user.") }
