// Package push tells people on devices that hold no connection what waits for them, through services of third parties, and keeps for each device
// what became of it: sent, not sent because the person was looking anyway, withdrawn because it was read first, or failed and why.
package push

import (
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// LooksFor is how long a device counts as being looked at after it has said so.
const LooksFor = 60 * time.Second

// Glance says that a person has a device in the foreground.
type Glance struct {
	User    id.User    `json:"user"`
	Device  id.Device  `json:"device"`
	Session id.Session `json:"session,omitempty"` // the conversation that it shows; "" if none
}

// Attention knows which devices people are looking at, over all hubs of a store. It is a view: what it forgets costs a push too many, never one
// too few for longer than LooksFor. Safe for concurrent use.
type Attention interface {
	// Look notes that the device is looked at from now on, for LooksFor.
	Look(ctx context.Context, g Glance)
	// Away notes that it is not any more.
	Away(ctx context.Context, user id.User, device id.Device)
	// Looking returns what the person looks at now: nothing if they are not looking.
	Looking(ctx context.Context, user id.User) []Glance
}
