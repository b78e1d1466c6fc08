package chat

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Settings are what one member wants to see of a conversation. Nobody else hears of them.
type Settings struct {
	Pinned, Archived, Muted bool

	Version Version // counts the changes
}

// SettingsChange is what a member wants otherwise; nil stays as it is.
type SettingsChange struct {
	Pinned, Archived, Muted *bool
}

// Setting stores a member's settings.
type Setting struct {
	Session id.Session
	User    id.User
	Was     Version // of what was read
	Now     Settings
	Frame   []byte // payload of session.info_updated
}

// ChangeSettings changes what the user wants to see of a conversation, and tells their devices. A dissolved one can still be put away.
func (s *Sessions) ChangeSettings(ctx context.Context, by account.Principal, session id.Session, c SettingsChange) (Session, error) {
	return settled(func() (Session, error) {
		found, err := s.Get(ctx, by.User, session)
		if err != nil {
			return Session{}, err
		}
		now := found.Settings
		for to, from := range map[*bool]*bool{&now.Pinned: c.Pinned, &now.Archived: c.Archived, &now.Muted: c.Muted} {
			if from != nil {
				*to = *from
			}
		}
		if now == found.Settings {
			return found, nil
		}
		now.Version++
		frame, err := settingsUpdated(session, now)
		if err != nil {
			return Session{}, err
		}
		set := Setting{Session: session, User: by.User, Was: found.Settings.Version, Now: now, Frame: frame}
		found.Settings = now
		return found, s.Store.Set(ctx, set)
	})
}
