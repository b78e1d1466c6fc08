// Package presence knows which people have a device connected, and tells their friends: when the first connection of a person comes, and when none has
// been there for a while after the last one (S3, device.online and device.offline). Nothing of it is kept: a hub works it out from what all hubs hold now.
package presence

import (
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Standing is how a person stands: the payload of device.online and device.offline.
type Standing struct {
	User   id.User `json:"user_id"`
	Online bool    `json:"online"`

	// Version is greater than those of all standings that the same hub has told before: of two that come over one connection the greater holds. It is
	// the hub's time in microseconds since 1970, more or less.
	Version int64 `json:"version"`
}

// Crowd knows who has a connection to any hub of the store. It is a view: it may lag by seconds behind the truth of another hub, and never behind its
// own. Safe for concurrent use; no method blocks.
type Crowd interface {
	// Arrived counts a connection that has begun at this hub.
	Arrived(u id.User)
	// Departed counts one that has ended.
	Departed(u id.User)
	// Present returns everybody who has one, at whichever hub; the caller owns the map.
	Present() map[id.User]struct{}
	// Changed has a value when Present may have changed since somebody took one. What expires changes it without a word.
	Changed() <-chan struct{}
}

// Friends knows whose friends people are. Safe for concurrent use.
type Friends interface {
	// FriendsOf returns the friends of a person.
	FriendsOf(ctx context.Context, u id.User) ([]id.User, error)
	// AreFriends says whether two people are friends.
	AreFriends(ctx context.Context, a, b id.User) (bool, error)
}

// Statement is which friends of a person are there.
type Statement struct {
	Online []Standing // never nil

	// WholeIn is how long it takes until the hub can say that no other friend is there; 0 if it can now. A hub that has just begun cannot: whoever was
	// connected before is still on the way back.
	WholeIn time.Duration
}

// Pair is two people between whom something has changed, in the order of their ids.
type Pair struct {
	A id.User `json:"a"`
	B id.User `json:"b"`
}

// PairOf returns the pair of two people.
func PairOf(a, b id.User) Pair { return Pair{min(a, b), max(a, b)} }
