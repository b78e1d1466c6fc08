package push

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// State is what became of a push to one device.
type State string

// States. Pending and Clearing are on their way, all others stay.
const (
	Pending    State = "pending"
	Sent       State = "sent"       // the service took it: whether the device shows it is not for the hub to know
	Suppressed State = "suppressed" // it was not to be sent: see Code
	Withdrawn  State = "withdrawn"  // there was nothing to tell any more before it was sent
	Failed     State = "failed"     // see Code
	Clearing   State = "clearing"   // sent, and then read elsewhere: the device is told to take it back
	Cleared    State = "cleared"    // the service took that as well
)

// Code says why. "" for a push that went as it should.
type Code string

// Codes. They are shown to people and append-only.
const (
	CodeActive       Code = "active"             // suppressed: the person looked at another device, or this one
	CodeMuted        Code = "muted"              // suppressed: the conversation is muted
	CodeRead         Code = "read"               // withdrawn: read, answered or over
	CodeNotMember    Code = "not_a_member"       // withdrawn: the person is not in the conversation any more
	CodeUnregistered Code = "not_registered"     // withdrawn: the device is not pushed to any more, or its login has ended
	CodeGone         Code = "gone"               // failed: the service does not know the address; the registration was removed
	CodeRefused      Code = "refused"            // failed: the service does not take it, and will not
	CodeRedirected   Code = "redirected"         // failed: the address leads elsewhere, where nothing is sent
	CodeForbidden    Code = "address_forbidden"  // failed: the address is not on the Internet, and the operator has not allowed it
	CodeUnreachable  Code = "unreachable"        // no connection
	CodeTimeout      Code = "timeout"            // no answer in time
	CodeUnavailable  Code = "unavailable"        // the service has trouble, or takes no more now
	CodeUnreadable   Code = "address_unreadable" // failed: the keys of this hub do not open what is stored
	CodeNotCleared   Code = "not_cleared"        // sent, and the service did not take it back
)

// Delivery is what became of a notification on one device.
type Delivery struct {
	Notification string
	Device       id.Device
	User         id.User
	Channel      Channel
	Type         string
	Session      id.Session
	Message      id.Message
	Run          id.Run

	State         State
	Code          Code
	Status        int
	Tries         int
	Due           time.Time // zero: nothing is left to be done
	ActiveDevice  id.Device
	ActiveSession id.Session
	CreatedAt     time.Time
	SentAt        time.Time // zero until the service took it
	ChangedAt     time.Time
}

// Order is a delivery that this hub has claimed, with what it takes to decide about it.
type Order struct {
	Delivery
	Registration *Registration // nil: the device is not pushed to any more
	LoginEnded   bool
	Member       bool // of the conversation, or there is none
	Muted        bool
}

// Outcome is what is recorded of a claimed delivery.
type Outcome struct {
	State         State
	Code          Code
	Status        int
	Again         time.Time // zero: nothing is left to be done
	ActiveDevice  id.Device
	ActiveSession id.Session
	Took          bool // the service took a push
	Gone          bool // the registration is of no use any more
}

// Quote is what a notification is about in the words of others.
type Quote struct {
	From string // who
	Text string // what they said, or want to do
}

// DeliveryStore keeps deliveries. Safe for concurrent use.
type DeliveryStore interface {
	// Due returns up to limit deliveries that are due at now, the oldest first: of each device the first, and none of one that rests.
	Due(ctx context.Context, now time.Time, limit int) ([]Delivery, error)
	// Claim takes a delivery until a time, after which another hub takes it for lost; timer.ErrTaken if somebody else was first.
	Claim(ctx context.Context, d Delivery, until time.Time) (Order, error)
	// Record stores what became of a claim, unless it was lost meanwhile. What was read in the meantime is cleared next.
	Record(ctx context.Context, o Order, out Outcome) error
	// Quote returns what a delivery is about, as it is now; nothing if it was taken back.
	Quote(ctx context.Context, d Delivery) (Quote, error)
	// Forget removes up to limit deliveries that were made before a time, and says how many.
	Forget(ctx context.Context, before time.Time, limit int) (int, error)
}

// Topic names a notification towards services: a later push of the same takes the place of the one before. It says nothing of what it names.
func Topic(notification string) string {
	sum := sha256.Sum256([]byte(notification))
	return base64.RawURLEncoding.EncodeToString(sum[:24]) // 32 letters: as many as RFC 8030 allows
}
