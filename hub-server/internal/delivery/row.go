// Package delivery decides who receives which committed fact, and in which order: the outbox, its audiences, cursors and the
// two states of a connection, attached or catching up (architecture 8). It knows nothing of sockets or SQL.
package delivery

import (
	"cmp"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Position is a place in the outbox: dense, from 1, in commit order, per store epoch. It leaves the hub only inside a Cursor.
type Position uint64

// Audience is who may receive a row: one user on all devices, or the members of a session.
type Audience string

// ToUser addresses all devices of one user.
func ToUser(u id.User) Audience { return Audience(userAudience + string(u)) }

// ToSession addresses the people who are members of a session at the row's position.
func ToSession(s id.Session) Audience { return Audience(sessionAudience + string(s)) }

const (
	userAudience    = "user:"
	sessionAudience = "session:"
)

// User returns the user whom a addresses, false for a session.
func (a Audience) User() (id.User, bool) {
	u, ok := strings.CutPrefix(string(a), userAudience)
	return id.User(u), ok
}

// Session returns the session whose members a addresses, false for a user.
func (a Audience) Session() (id.Session, bool) {
	s, ok := strings.CutPrefix(string(a), sessionAudience)
	return id.Session(s), ok
}

// Kind says what a row refers to.
type Kind string

// Kinds of row. A reference is expanded when it is delivered; an inline frame carries its payload.
const (
	KindFrame   Kind = "frame"   // FrameType and Payload
	KindMessage Kind = "message" // Message: one message.new
	KindRun     Kind = "run"     // Run, events From..To: agent.stream and, at a terminal, the frame of the outcome
	KindPrompt  Kind = "prompt"  // Prompt of Run as the event From has left it: notification.new
)

// Change is what a row does to a membership besides being delivered.
type Change string

// Changes of membership. The tail applies them in position order, before it delivers the row.
const (
	NoChange Change = ""
	Joined   Change = "joined"
	Left     Change = "left"
)

// Row is one entry of the outbox. The writer gives it its position as the last statement of its transaction.
type Row struct {
	Position Position // zero until committed
	Audience Audience
	Kind     Kind

	FrameType string // KindFrame: an S3 frame type
	Payload   []byte // KindFrame: JSON object

	Session id.Session // KindMessage, KindRun, KindPrompt: conversation; with a Change: whose membership
	Message id.Message // KindMessage; KindFrame: the message that it is about, if any
	Run     id.Run     // KindRun and KindPrompt
	Prompt  id.Request // KindPrompt
	From    uint64     // KindRun: first event_seq; KindPrompt: the only one; with a Message: see outdates
	To      uint64     // KindRun: last event_seq

	Change     Change
	ChangeUser id.User // who joined or left Session

	// Bytes is roughly what the row's payloads come to, for the limit of a replay; 0 stands for the length of Payload.
	Bytes int
}

// outdates says that what was read of the row's message before is out of date: it was edited, or recalled. From is above 0 then.
func (r *Row) outdates() bool { return r.Message != "" && r.From > 0 }

// size is roughly what the row's payloads come to.
func (r *Row) size() int { return cmp.Or(r.Bytes, len(r.Payload)) }

// weight is roughly what the row's frames come to.
func (r *Row) weight() int { return rowCost + r.size() }
