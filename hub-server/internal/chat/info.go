package chat

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Limits of what an owner says of a conversation.
const (
	maxAvatarURL    = 2048 // bytes
	maxAnnouncement = 4000 // characters
)

// Update changes what the owner says of a conversation: from one state to the next.
type Update struct {
	Was   Version // of what was read
	Now   Session
	Frame []byte // payload of session.info_updated
}

func revise(was, now Session) (u Update, err error) {
	now.Info = was.Info + 1
	frame, err := updatedFrame(now)
	return Update{Was: was.Info, Now: now, Frame: frame}, err
}

// InfoChange is what an owner wants otherwise; nil stays as it is.
type InfoChange struct {
	Name, AvatarURL, Announcement *string
}

// ChangeInfo changes what a group is called, how it looks and what it announces: the owner's right.
func (s *Sessions) ChangeInfo(ctx context.Context, by account.Principal, session id.Session, c InfoChange) (Session, error) {
	if err := c.check(); err != nil {
		return Session{}, err
	}
	return s.revised(ctx, by, session, func(now *Session) error {
		for to, from := range map[*string]*string{&now.Name: c.Name, &now.AvatarURL: c.AvatarURL, &now.Announcement: c.Announcement} {
			if from != nil {
				*to = *from
			}
		}
		return nil
	})
}

// Transfer makes another person of a group its owner: the owner's right.
func (s *Sessions) Transfer(ctx context.Context, by account.Principal, session id.Session, to id.User) (Session, error) {
	return s.revised(ctx, by, session, func(now *Session) error {
		if _, in := now.member(OfUser(to)); !in {
			return fault.New(fault.NotFound, "There is no such member.")
		}
		now.Owner = to
		return nil
	})
}

// revised changes what is said of a group as its owner may, and returns how it stands then. What changes nothing says nothing.
func (s *Sessions) revised(ctx context.Context, by account.Principal, session id.Session, change func(*Session) error) (Session, error) {
	return settled(func() (Session, error) {
		found, err := s.owned(ctx, by.User, session)
		if err != nil {
			return Session{}, err
		}
		now := found
		if err := change(&now); err != nil || infoOf(now) == infoOf(found) {
			return found, err
		}
		u, err := revise(found, now)
		if err != nil {
			return Session{}, err
		}
		if err := s.Store.Update(ctx, by.User, u); err != nil {
			return Session{}, err
		}
		return s.Get(ctx, by.User, session)
	})
}

// owned returns a living group whose owner the user is; NotFound for what is not theirs to see.
func (s *Sessions) owned(ctx context.Context, user id.User, session id.Session) (Session, error) {
	found, err := s.Get(ctx, user, session)
	switch {
	case err != nil:
		return Session{}, err
	case found.Type == Private:
		return Session{}, fault.New(fault.Conflict, "A private conversation has no owner's affairs: both members are equal. Open a group for that.")
	case found.Owner != user:
		return Session{}, fault.New(fault.Forbidden, "Only the owner of the conversation does that.")
	case found.Dissolved():
		return Session{}, DissolvedError()
	}
	return found, nil
}

func (c InfoChange) check() error {
	if c.Name != nil {
		if err := checkName(*c.Name, 1); err != nil {
			return err
		}
	}
	if c.AvatarURL != nil && *c.AvatarURL != "" {
		u, err := url.Parse(*c.AvatarURL)
		if err != nil || len(*c.AvatarURL) > maxAvatarURL || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return fault.New(fault.InvalidRequest,
				"avatar_url must be an https address of at most %d bytes, without a user name; empty for none.", maxAvatarURL)
		}
	}
	if a := c.Announcement; a != nil && (utf8.RuneCountInString(*a) > maxAnnouncement || !utf8.ValidString(*a) || strings.ContainsRune(*a, 0)) {
		return fault.New(fault.InvalidRequest, "announcement must have at most %d characters.", maxAnnouncement)
	}
	return nil
}

// ReadOnlyError is the answer to whatever would say or start something in a conversation that was brought as a trace.
func ReadOnlyError() error {
	return fault.New(fault.ReadOnly, "This conversation was imported from a trace. It can be read, and nothing can be said or changed in it.")
}

// DissolvedError is the answer to whatever would change a conversation that is closed.
func DissolvedError() error {
	return fault.New(fault.SessionDissolved, "This conversation was dissolved by its owner. It can be read, and nothing else.")
}

// Dissolution closes a group.
type Dissolution struct {
	Session Session // as it was read
	By      id.User
	Frame   []byte // payload of session.dissolved
}

// Dissolve closes a group for good: the owner's right. Its members go on reading it. What runs in it is cancelled soon after: see Ending.
func (s *Sessions) Dissolve(ctx context.Context, by account.Principal, session id.Session) (Session, error) {
	return settled(func() (Session, error) {
		found, err := s.owned(ctx, by.User, session)
		if fault.CodeOf(err) == fault.SessionDissolved {
			return s.Get(ctx, by.User, session) // the first time is the only one
		}
		if err != nil {
			return Session{}, err
		}
		found.DissolvedAt = s.Now.Moment()
		frame, err := dissolvedFrame(found)
		if err != nil {
			return Session{}, err
		}
		if err := s.Store.Dissolve(ctx, Dissolution{Session: found, By: by.User, Frame: frame}); err != nil {
			return Session{}, fmt.Errorf("dissolve: %w", err)
		}
		return found, nil
	})
}
