// Package notice holds what people are told of, wherever they are: that somebody mentioned or invited them, that a run of theirs is over,
// that an agent asks them something. A notice is stored in the transaction of what it is about, and marked as read on all devices at once.
package notice

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/paging"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// Type is what kind of thing a notice is about (S3).
type Type string

// Kinds of notice. Questions of agents are told from their own list; see Item.
const (
	Mention       Type = "mention"        // subject: the message
	FriendRequest Type = "friend_request" // subject: the request
	GroupInvite   Type = "group_invite"   // subject: the conversation and when they came in
	AgentDone     Type = "agent_done"     // subject: the run
	System        Type = "system"         // subject: what the hub saw
)

// Notice is one thing that one person is told. Of one subject a person is told once.
type Notice struct {
	ID      id.Notification
	User    id.User
	Type    Type
	Subject string
	Payload json.RawMessage // an object
	// Session is where it happened, if in a conversation: who has muted that is not told.
	Session   id.Session
	Read      bool
	CreatedAt time.Time
}

// Frame is the payload of notification.new. The same notice gives the same bytes, on every hub and every device.
func Frame(n Notice) []byte {
	return fmt.Appendf(nil, `{"id":%q,"type":%q,"payload":%s,"read":%t,"created_at":%q}`,
		n.ID, n.Type, n.Payload, n.Read, n.CreatedAt.UTC().Format(time.RFC3339Nano))
}

// Mentioned tells a person that a message names them. It does not hold the text, which may be taken back.
func Mentioned(user id.User, session id.Session, message id.Message, by id.User) (Notice, error) {
	return about(user, Mention, string(message), session, struct {
		Session id.Session `json:"session_id"`
		Message id.Message `json:"message_id"`
		By      id.User    `json:"by_user_id"`
	}{session, message, by})
}

// Invited tells a person that somebody has brought them into a group.
func Invited(user id.User, session id.Session, name string, by id.User, at time.Time) (Notice, error) {
	return about(user, GroupInvite, fmt.Sprintf("%s %d", session, at.UnixMicro()), session, struct {
		Session id.Session `json:"session_id"`
		Name    string     `json:"name,omitempty"`
		By      id.User    `json:"by_user_id"`
	}{session, name, by})
}

// Done tells whoever asked for a run that it is over.
func Done(user id.User, task id.Run, session id.Session, agent id.Agent, state run.State) (Notice, error) {
	return about(user, AgentDone, string(task), session, struct {
		Task    id.Run     `json:"task_id"`
		Session id.Session `json:"session_id"`
		Agent   id.Agent   `json:"agent_id"`
		State   run.State  `json:"state"`
	}{task, session, agent, state})
}

// Befriend tells a person that somebody asks to be a friend; payload is that of friend.request.
func Befriend(user id.User, request id.Request, payload json.RawMessage) (Notice, error) {
	return about(user, FriendRequest, string(request), "", payload)
}

// LoginEnded tells a person that the hub has ended a login of theirs, because its refresh token was used by two.
func LoginEnded(user id.User, device id.Device) (Notice, error) {
	return about(user, System, "login_ended "+string(device), "", struct {
		Kind   string    `json:"kind"`
		Device id.Device `json:"device_id"`
		Reason string    `json:"reason"`
	}{"login_ended", device, "refresh_reused"})
}

func about(user id.User, t Type, subject string, session id.Session, payload any) (Notice, error) {
	body, err := event.Encode(payload)
	if err != nil {
		return Notice{}, fmt.Errorf("encode notice: %w", err)
	}
	return Notice{ID: id.NewNotification(), User: user, Type: t, Subject: subject, Payload: body, Session: session}, nil
}

// Item is one line of what a person is told: a notice, or a question that they may answer.
type Item struct {
	Notice
	Question *prompt.Prompt
}

// Mark is the place of the item in the list.
func (i Item) Mark() paging.Mark {
	if i.Question != nil {
		return paging.Mark{At: i.Question.AskedAt, ID: string(i.Question.ID)}
	}
	return paging.Mark{At: i.CreatedAt, ID: string(i.ID)}
}

func notThere() error { return fault.New(fault.NotFound, "There is no such notification.") }
