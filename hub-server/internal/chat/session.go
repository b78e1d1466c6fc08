// Package chat holds conversations: who is in them, what was said, in which order, and who has read how far. A message that
// mentions an agent starts a run in the same transaction.
package chat

import (
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Session is a conversation as one of its members sees it.
type Session struct {
	ID        id.Session
	Type      SessionType
	Name      string // may be empty in a private conversation
	Owner     id.User
	Members   []Member
	Reading   // of the person who asks
	CreatedAt time.Time
	UpdatedAt time.Time // of the last message or change of members

	AvatarURL    string
	Announcement string

	DissolvedAt time.Time // zero while it lives
	ReadOnly    bool      // it was brought as a trace: nobody says or starts anything there

	Settings Settings // of the person who asks

	// Info counts the changes of name, avatar, announcement and owner, Roster those of the members.
	Info, Roster Version
}

// Version counts changes of one thing: of two states the one with the higher version holds.
type Version uint64

// Pair names the two members of a private conversation, whoever of them asks; "" for other conversations.
type Pair string

// PairOf is the pair of two members.
func PairOf(a, b MemberID) Pair { return Pair(min(a, b) + " " + max(a, b)) }

// Pair is the pair whose conversation s is.
func (s Session) Pair() Pair {
	if s.Type != Private || len(s.Members) != 2 {
		return ""
	}
	return PairOf(s.Members[0].ID, s.Members[1].ID)
}

// Dissolved says that the conversation is closed for good.
func (s Session) Dissolved() bool { return !s.DissolvedAt.IsZero() }

// SessionType is the kind of conversation.
type SessionType string

// Kinds of conversation.
const (
	Private SessionType = "private" // two members, for ever
	Group   SessionType = "group"
)

// Seq is a message's number in its conversation: from 1 without holes. It is `messages.seq_id` of S3, never the `seq_id` of a frame.
type Seq uint64

// Member is a user or an agent in a conversation.
type Member struct {
	ID       MemberID
	Name     string
	Role     MemberRole
	JoinedAt time.Time
	LastRead Seq // as REST tells it; frames tell of each move of a mark
}

// MemberRole is what a member may do in the conversation.
type MemberRole string

// Roles of members. Agents are always Participant.
const (
	OwnerRole   MemberRole = "owner"
	Participant MemberRole = "member"
)

// MemberID names a user or an agent: their own id, as it is.
type MemberID string

// MemberType tells users and agents apart.
type MemberType string

// Kinds of member, and of sender.
const (
	UserMember  MemberType = "user"
	AgentMember MemberType = "agent"
)

// OfUser and OfAgent make a member id.
func OfUser(u id.User) MemberID { return MemberID(u) }

// OfAgent makes the member id of an agent.
func OfAgent(a id.Agent) MemberID { return MemberID(a) }

// ParseMemberID accepts the id of a user or of an agent; the error wraps id.ErrMalformed.
func ParseMemberID(s string) (MemberID, error) {
	if strings.HasPrefix(s, "agent_") {
		a, err := id.ParseAgent(s)
		return OfAgent(a), err
	}
	u, err := id.ParseUser(s)
	return OfUser(u), err
}

// Type says what kind of member m is.
func (m MemberID) Type() MemberType {
	if strings.HasPrefix(string(m), "agent_") {
		return AgentMember
	}
	return UserMember
}

// User returns the user that m names, false for an agent.
func (m MemberID) User() (id.User, bool) { return id.User(m), m.Type() == UserMember }

// Agent returns the agent that m names, false for a user.
func (m MemberID) Agent() (id.Agent, bool) { return id.Agent(m), m.Type() == AgentMember }
