package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/hub-server/internal/paging"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Limits of a conversation.
const (
	MaxMembers    = 1000 // that a list of them may have
	MaxGroups     = 2000 // that one person may be in, if nobody says
	maxNewMembers = 100  // at once
	maxNameChars  = 100
)

// Limits are what a hub allows at most. 0 is MaxMembers and MaxGroups.
type Limits struct {
	Members int // of a group
	Groups  int // of a person
}

// RoomFor refuses another member of a group that has so many.
func (l Limits) RoomFor(members, more int) error {
	if most := cmp.Or(l.Members, MaxMembers); members+more > most {
		return fault.New(fault.TooLarge, "A group has at most %d members (HUB_GROUP_MEMBERS). Remove somebody first, or open another.", most)
	}
	return nil
}

// RoomIn refuses another group for somebody who is in so many; self says that it is who asks.
func (l Limits) RoomIn(groups int, self bool) error {
	most := cmp.Or(l.Groups, MaxGroups)
	switch {
	case groups < most:
		return nil
	case self:
		return fault.New(fault.TooLarge, "You are in %d groups, as many as one may be in (HUB_GROUPS_PER_USER). Leave one first.", groups)
	}
	return fault.New(fault.TooLarge, "Somebody you bring in is in as many groups as one may be in (HUB_GROUPS_PER_USER). Leave them out.")
}

// Opening is a new conversation with the frame that its people get.
type Opening struct {
	Session Session
	Created []byte // payload of session.created
	Notices []notice.Notice
	Limits  Limits
}

// Joining adds a member to a conversation.
type Joining struct {
	Session Session // as it was read: the frames tell of it
	By      id.User // must be a member
	Member  Member
	Created []byte // payload of session.created, for a user who joins
	Joined  []byte // payload of session.member_joined
	Notices []notice.Notice
	Limits  Limits
}

// Leaving ends a membership. When the owner leaves, Heir says who is the owner then.
type Leaving struct {
	Session id.Session
	Member  MemberID
	Left    []byte // payload of session.member_left
	Heir    *Update
}

// Filter chooses a page of conversations, most recently changed first.
type Filter struct {
	Name  string // "" for all
	After paging.Mark
	Limit int
}

// SessionStore keeps conversations and members. Each write is one transaction with its outbox rows; safe for concurrent use.
type SessionStore interface {
	// Session returns the conversation as viewer sees it; NotFound unless viewer is a member now.
	Session(ctx context.Context, s id.Session, viewer id.User) (Session, error)
	// WithAgents is Session with none but the agents among its members: a conversation may have many people.
	WithAgents(ctx context.Context, s id.Session, viewer id.User) (Session, error)
	// IsMember says whether the user is a member now.
	IsMember(ctx context.Context, s id.Session, user id.User) (bool, error)
	// Sessions returns a page of the viewer's conversations and the mark of the next page, zero on the last.
	Sessions(ctx context.Context, viewer id.User, f Filter) ([]Session, paging.Mark, error)
	// Unread counts what a user has not read, but in conversations that are muted or dissolved.
	Unread(ctx context.Context, user id.User) (Badge, error)
	// UserNames returns the names of those users that exist.
	UserNames(ctx context.Context, users []id.User) (map[id.User]string, error)
	// Paired returns the private conversation of two members; "" when there is none.
	Paired(ctx context.Context, pair Pair) (id.Session, error)
	// Open stores the conversation and tells each of its people; *account.Repeated when the attempt was answered before, ErrMoved when the
	// private conversation of its pair is there, TooLarge when somebody is in too many groups.
	Open(ctx context.Context, o Opening, claim account.Claim) error
	// Join stores the membership and tells the person, then everybody. NotFound unless By is a member; TooLarge when the conversation is
	// full or the person in too many groups; ErrMoved when it is not as it was read.
	Join(ctx context.Context, j Joining, claim account.Claim) error
	// Leave ends the membership: the person's last frame says so. ErrMoved when there is an heir, and the conversation is not as it was
	// read. Leaving twice is fine.
	Leave(ctx context.Context, l Leaving) error
	// Update stores what by, the owner, says of the conversation, and tells everybody; ErrMoved when it is not as it was read.
	Update(ctx context.Context, by id.User, u Update) error
	// Set stores what a member wants to see of the conversation, and tells them alone; ErrMoved when it is not as it was read.
	Set(ctx context.Context, s Setting) error
	// Dissolve closes the conversation, tells everybody and arms the timer of its Ending; ErrMoved when it is not as it was read.
	Dissolve(ctx context.Context, d Dissolution) error
}

// ErrMoved means that a conversation has changed since it was read: what was decided on that must be decided anew.
var ErrMoved = errors.New("the conversation has changed meanwhile")

// raceRetries is how often a decision is taken anew, far beyond what people do to one conversation at once.
const raceRetries = 20

// settled takes a decision until it is not overtaken.
func settled[T any](decide func() (T, error)) (T, error) {
	for range raceRetries {
		if result, err := decide(); !errors.Is(err, ErrMoved) {
			return result, err
		}
	}
	return *new(T), fault.New(fault.Conflict, "This conversation keeps changing. Try again.")
}

// Agents is what conversations need to know about agents.
type Agents interface {
	// Get returns an agent that the user can see; NotFound.
	Get(ctx context.Context, by id.User, agent id.Agent) (fleet.AgentView, error)
	// ViewsOf returns those of the agents that exist, as the user sees them.
	ViewsOf(ctx context.Context, user id.User, agents []id.Agent) ([]fleet.AgentView, error)
}

// Sessions opens conversations and keeps their members. Safe for concurrent use.
type Sessions struct {
	Store    SessionStore
	Agents   Agents
	Attempts *account.Attempts
	Now      account.Clock
	Limits   Limits
}

// Get returns a conversation that the user is a member of; NotFound for any other (SEC11).
func (s *Sessions) Get(ctx context.Context, user id.User, session id.Session) (Session, error) {
	return s.Store.Session(ctx, session, user)
}

// List returns a page of the user's conversations.
func (s *Sessions) List(ctx context.Context, user id.User, f Filter) ([]Session, paging.Mark, error) {
	return s.Store.Sessions(ctx, user, f)
}

// IsMember says whether the user is in the conversation now. It is the right to read it, and to show there that one is typing.
func (s *Sessions) IsMember(ctx context.Context, user id.User, session id.Session) (bool, error) {
	return s.Store.IsMember(ctx, session, user)
}

// NewPrivate is a conversation with one other.
type NewPrivate struct {
	Member MemberID
	Name   string // may be empty
}

// OpenPrivate opens the conversation with one user or one agent, or returns the one that stands. An agent must be one that the caller may
// operate.
func (s *Sessions) OpenPrivate(ctx context.Context, by account.Principal, n NewPrivate, at account.Attempt) (Session, error) {
	if n.Member == OfUser(by.User) {
		return Session{}, fault.New(fault.InvalidRequest, "A private conversation needs somebody else: give another member_id.")
	}
	if err := checkName(n.Name, 0); err != nil {
		return Session{}, err
	}
	return account.Once(ctx, s.Attempts, at, func(claim func(Session) (account.Claim, error)) (Session, error) {
		return settled(func() (Session, error) {
			standing, err := s.Store.Paired(ctx, PairOf(OfUser(by.User), n.Member))
			switch {
			case err != nil:
				return Session{}, fmt.Errorf("look for conversation: %w", err)
			case standing != "":
				return s.Get(ctx, by.User, standing)
			}
			return s.open(ctx, by, Session{Type: Private, Name: n.Name}, []MemberID{n.Member}, claim)
		})
	})
}

// NewGroup is a conversation with any number of others.
type NewGroup struct {
	Name    string
	Members []MemberID
}

// OpenGroup opens a conversation with users and agents. Agents must be ones that the caller may operate.
func (s *Sessions) OpenGroup(ctx context.Context, by account.Principal, n NewGroup, at account.Attempt) (Session, error) {
	if err := checkName(n.Name, 1); err != nil {
		return Session{}, err
	}
	if len(n.Members) > maxNewMembers {
		return Session{}, fault.New(fault.TooLarge, "A conversation begins with at most %d members. Add the others later.", maxNewMembers)
	}
	others := slices.DeleteFunc(slices.Clone(n.Members), func(m MemberID) bool { return m == OfUser(by.User) })
	slices.Sort(others)
	others = slices.Compact(others)
	if err := s.Limits.RoomFor(1, len(others)); err != nil {
		return Session{}, err
	}
	return account.Once(ctx, s.Attempts, at, func(claim func(Session) (account.Claim, error)) (Session, error) {
		return s.open(ctx, by, Session{Type: Group, Name: n.Name}, others, claim)
	})
}

func (s *Sessions) open(
	ctx context.Context, by account.Principal, opened Session, others []MemberID, claim func(Session) (account.Claim, error),
) (Session, error) {
	now := s.Now.Moment()
	opened.ID, opened.Owner, opened.CreatedAt, opened.UpdatedAt = id.NewSession(), by.User, now, now
	opened.Members = []Member{{ID: OfUser(by.User), Name: by.Name, Role: OwnerRole, JoinedAt: now}}
	for _, other := range others {
		m, err := s.candidate(ctx, by.User, other)
		if err != nil {
			return Session{}, err
		}
		opened.Members = append(opened.Members, m)
	}
	frame, err := createdFrame(opened)
	if err != nil {
		return Session{}, err
	}
	c, err := claim(opened)
	if err != nil {
		return Session{}, err
	}
	invited, err := opened.invitations(by.User, opened.Members)
	if err != nil {
		return Session{}, err
	}
	return opened, s.Store.Open(ctx, Opening{Session: opened, Created: frame, Notices: invited, Limits: s.Limits}, c)
}

// candidate returns the member that by may bring into a conversation: any user, and agents that by may operate.
func (s *Sessions) candidate(ctx context.Context, by id.User, m MemberID) (Member, error) {
	name, err := s.nameOf(ctx, by, m)
	return Member{ID: m, Name: name, Role: Participant, JoinedAt: s.Now.Moment()}, err
}

func (s *Sessions) nameOf(ctx context.Context, by id.User, m MemberID) (string, error) {
	if agent, ok := m.Agent(); ok {
		view, err := s.Agents.Get(ctx, by, agent)
		if err == nil && !view.CanOperate {
			err = fleet.OperateRequired(view.Name)
		}
		return view.Name, err
	}
	user, _ := m.User()
	names, err := s.Store.UserNames(ctx, []id.User{user})
	if err != nil {
		return "", fmt.Errorf("look up user: %w", err)
	}
	name, known := names[user]
	if !known {
		return "", fault.New(fault.NotFound, "There is no such user.")
	}
	return name, nil
}

func checkName(name string, least int) error {
	n := utf8.RuneCountInString(name)
	if n < least || n > maxNameChars || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return fault.New(fault.InvalidRequest, "name must have %d to %d characters.", least, maxNameChars)
	}
	return nil
}
