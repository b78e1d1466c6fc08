// Package audit is the record of who did what to the security of an installation: logins, devices, invitations, machines, grants, and what
// people decided about runs. An entry is stored in the transaction of its act. Batches of entries are sealed: each seal continues a
// hash chain and is signed with a key that is not in the store, so that who changes, removes or slips in an entry afterwards is found.
package audit

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Act is what was done. Names are stored and never change their meaning.
type Act string

// Acts.
const (
	UserJoined     Act = "user.joined"        // target: the user; detail: first, or the invitation it used
	UserInvited    Act = "user.invited"       // target: the invitation
	LoggedIn       Act = "device.logged_in"   // target: the device
	DeviceAdded    Act = "device.added"       // target: the device; by a device that was in already
	DeviceEnded    Act = "device.ended"       // target: the device; detail: why
	EdgeInvited    Act = "edge.enrolment"     // target: the edge that may enrol
	EdgeEnrolled   Act = "edge.enrolled"      // target: the edge; user: its owner
	EdgeRevoked    Act = "edge.revoked"       // target: the edge
	OperateGranted Act = "operate.granted"    // target: the edge; detail: to whom
	OperateTaken   Act = "operate.taken_back" // target: the edge; detail: from whom
	PromptAnswered Act = "prompt.answered"    // target: the request; detail: the run
	RunCancelled   Act = "run.cancelled"      // target: the run
	RunForced      Act = "run.forced"         // target: the run; its edge was not waited for
	ModeChosen     Act = "approval.mode"      // target: the conversation; detail: how permissions are answered in the user's runs there, "" as profiles say
	MessageTaken   Act = "message.recalled"   // target: the message; by the owner of its conversation, who did not send it
	SessionGiven   Act = "session.given"      // target: the conversation; detail: who owns it now
	SessionClosed  Act = "session.dissolved"  // target: the conversation
	PushAdded      Act = "push.added"         // target: the device; detail: channel and host of the address
	PushRemoved    Act = "push.removed"       // target: the device
	KeysInUse      Act = "keys.in_use"        // target: the key that access tokens are signed with from now on
	StoreRestored  Act = "store.restored"     // detail: the epoch that the backup was of
)

// Seq numbers entries from 1 without a hole.
type Seq int64

// Entry is one act.
type Entry struct {
	Seq    Seq
	At     time.Time // by the hub's clock, in microseconds
	Act    Act
	User   id.User // who did it, or whose it is; "" for whoever runs the hub
	Target string
	Detail string
}

// Seal covers the entries First to Last.
type Seal struct {
	First, Last Seq
	Chain       Chain // after Last
	Signature   []byte
}
