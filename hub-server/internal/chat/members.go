package chat

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// AddMember brings a user or an agent into a group that the caller is a member of. Who is in already stays as they are.
func (s *Sessions) AddMember(
	ctx context.Context, by account.Principal, session id.Session, m MemberID, at account.Attempt,
) (Member, error) {
	return account.Once(ctx, s.Attempts, at, func(claim func(Member) (account.Claim, error)) (Member, error) {
		return settled(func() (Member, error) { return s.addMember(ctx, by.User, session, m, claim) })
	})
}

func (s *Sessions) addMember(
	ctx context.Context, by id.User, session id.Session, m MemberID, claim func(Member) (account.Claim, error),
) (Member, error) {
	found, err := s.Get(ctx, by, session)
	if err != nil {
		return Member{}, err
	}
	if standing, ok := found.member(m); ok {
		return standing, nil
	}
	if found.Type == Private {
		return Member{}, fault.New(fault.Conflict, "A private conversation has two members. Open a group for more.")
	}
	if found.Dissolved() {
		return Member{}, DissolvedError()
	}
	joining, err := s.candidate(ctx, by, m)
	if err != nil {
		return Member{}, err
	}
	c, err := claim(joining)
	if err != nil {
		return Member{}, err
	}
	return joining, s.join(ctx, by, found, joining, c)
}

func (s *Sessions) join(ctx context.Context, by id.User, to Session, m Member, c account.Claim) error {
	then := to
	then.Members = append(slices.Clone(to.Members), m)
	created, err := createdFrame(then)
	if err != nil {
		return err
	}
	joined, err := joinedFrame(to.ID, m)
	if err != nil {
		return err
	}
	invited, err := to.invitations(by, []Member{m})
	if err != nil {
		return err
	}
	return s.Store.Join(ctx, Joining{Session: to, By: by, Member: m, Created: created, Joined: joined, Notices: invited, Limits: s.Limits}, c)
}

// RemoveMember ends a membership of a group: the owner's right over everybody, and everybody's over themselves. When the owner leaves,
// the person who has been there longest becomes the owner.
func (s *Sessions) RemoveMember(ctx context.Context, by account.Principal, session id.Session, m MemberID) error {
	_, err := settled(func() (struct{}, error) { return struct{}{}, s.removeMember(ctx, by, session, m) })
	return err
}

func (s *Sessions) removeMember(ctx context.Context, by account.Principal, session id.Session, m MemberID) error {
	found, err := s.Get(ctx, by.User, session)
	if err != nil {
		return err
	}
	if found.Owner != by.User && m != OfUser(by.User) {
		return fault.New(fault.Forbidden, "Only the owner of the conversation removes others.")
	}
	if _, ok := found.member(m); !ok {
		return fault.New(fault.NotFound, "There is no such member.")
	}
	if found.Type == Private {
		return fault.New(fault.Conflict, "A private conversation keeps its two members.")
	}
	if found.Dissolved() {
		return DissolvedError()
	}
	leaving, err := found.leaving(m)
	if err != nil {
		return err
	}
	if err := s.Store.Leave(ctx, leaving); err != nil {
		return fmt.Errorf("remove member: %w", err)
	}
	return nil
}

func (s Session) leaving(m MemberID) (l Leaving, err error) {
	l = Leaving{Session: s.ID, Member: m}
	if l.Left, err = leftFrame(s.ID, m); err != nil {
		return l, err
	}
	if m != OfUser(s.Owner) {
		return l, nil
	}
	heir := s.heir()
	if heir == "" {
		return l, nil
	}
	then := s
	then.Owner = heir
	u, err := revise(s, then)
	l.Heir = &u
	return l, err
}

// heir is the person besides the owner who joined first; "" when there is nobody. Members stand in the order of joining.
func (s Session) heir() id.User {
	for _, m := range s.Members {
		if user, ok := m.ID.User(); ok && user != s.Owner {
			return user
		}
	}
	return ""
}

func (s Session) member(m MemberID) (Member, bool) {
	i := slices.IndexFunc(s.Members, func(one Member) bool { return one.ID == m })
	if i < 0 {
		return Member{}, false
	}
	return s.Members[i], true
}

// soleAgent is the agent of a private conversation, which needs no mention.
func (s Session) soleAgent() (id.Agent, bool) {
	if agents := s.agents(); s.Type == Private && len(agents) > 0 {
		return agents[0], true
	}
	return "", false
}

// agents are those among the members.
func (s Session) agents() (all []id.Agent) {
	for _, m := range s.Members {
		if agent, ok := m.ID.Agent(); ok {
			all = append(all, agent)
		}
	}
	return all
}
