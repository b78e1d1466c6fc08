package account

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// InvitationLifetime is how long an invitation waits to be used.
const InvitationLifetime = 7 * 24 * time.Hour

// NewUser is what a person chooses when they come.
type NewUser struct {
	Name        string
	DisplayName string
	Password    string
}

// Invitation lets one person make a user.
type Invitation struct {
	ID        id.Invitation
	Token     Token // shown once
	CreatedBy id.User
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Joining is a new user with the device they come on, ready to be stored as a whole.
type Joining struct {
	User         User
	PasswordHash string
	Login        NewLogin
}

// UserStore keeps people. Each write is one transaction; all methods are safe for concurrent use.
type UserStore interface {
	HasUsers(ctx context.Context) (bool, error)
	// AddFirstUser fails with BootstrapDone when there is a user already.
	AddFirstUser(ctx context.Context, j Joining) error
	// AddInvitedUser uses up the invitation: InvitationInvalid when it is used, expired or unknown, Conflict when the name is taken.
	AddInvitedUser(ctx context.Context, invitation TokenHash, j Joining) error
	// AddInvitation stores the invitation with the claim; *Repeated when the attempt was answered before.
	AddInvitation(ctx context.Context, inv Invitation, claim Claim) error
}

// People makes users: the first by the bootstrap token, everybody else by invitation. It is safe for concurrent use.
type People struct {
	Store     UserStore
	Hasher    *Hasher
	Issuer    *Issuer
	Attempts  *Attempts
	Bootstrap *BootstrapFile
	Now       Clock
	Log       *slog.Logger
}

// Prepare makes the bootstrap token when there is nobody yet, and removes one that has become useless.
func (p *People) Prepare(ctx context.Context) error {
	some, err := p.Store.HasUsers(ctx)
	if err != nil {
		return fmt.Errorf("look for users: %w", err)
	}
	if some {
		return p.Bootstrap.remove()
	}
	return p.Bootstrap.ensure()
}

// First makes the first user, an Admin. A wrong token and a hub that has its first user answer the same BootstrapDone.
func (p *People) First(ctx context.Context, token Token, u NewUser, d NewDevice) (Login, error) {
	if !p.Bootstrap.matches(token) {
		return Login{}, bootstrapDone()
	}
	login, joining, err := p.prepareJoining(ctx, u, d, Admin)
	if err != nil {
		return Login{}, err
	}
	if err := p.Store.AddFirstUser(ctx, joining); err != nil {
		return Login{}, err
	}
	if err := p.Bootstrap.remove(); err != nil {
		p.Log.Error("used bootstrap token cannot be removed; it has no effect any more", "error", err)
	}
	return login, nil
}

// Register makes a user from an invitation.
func (p *People) Register(ctx context.Context, invitation Token, u NewUser, d NewDevice) (Login, error) {
	if !invitation.Is(InvitationToken) {
		return Login{}, invitationInvalid()
	}
	login, joining, err := p.prepareJoining(ctx, u, d, Ordinary)
	if err != nil {
		return Login{}, err
	}
	return login, p.Store.AddInvitedUser(ctx, invitation.Hash(), joining)
}

// Invite makes an invitation. Only an Admin may.
func (p *People) Invite(ctx context.Context, by Principal, attempt Attempt) (Invitation, error) {
	if by.Role != Admin {
		return Invitation{}, fault.New(fault.Forbidden, "Only an administrator of this hub may invite people.")
	}
	return Once(ctx, p.Attempts, attempt, func(claim func(Invitation) (Claim, error)) (Invitation, error) {
		now := p.Now.Moment()
		inv := Invitation{
			ID: id.NewInvitation(), Token: NewToken(InvitationToken), CreatedBy: by.User,
			CreatedAt: now, ExpiresAt: now.Add(InvitationLifetime),
		}
		c, err := claim(inv)
		if err != nil {
			return Invitation{}, err
		}
		return inv, p.Store.AddInvitation(ctx, inv, c)
	})
}

func (p *People) prepareJoining(ctx context.Context, u NewUser, d NewDevice, role Role) (Login, Joining, error) {
	if err := u.check(); err != nil {
		return Login{}, Joining{}, err
	}
	if err := d.check(); err != nil {
		return Login{}, Joining{}, err
	}
	hash, err := p.Hasher.Hash(ctx, u.Password)
	if err != nil {
		return Login{}, Joining{}, err
	}
	user := User{ID: id.NewUser(), Name: u.Name, DisplayName: u.DisplayName, Role: role, CreatedAt: p.Now.Moment()}
	login, stored, err := p.Issuer.mint(user, d)
	return login, Joining{User: user, PasswordHash: hash, Login: stored}, err
}

func (u NewUser) check() error {
	if !validUserName(u.Name) {
		return fault.New(fault.InvalidRequest,
			"username must have 1 to %d characters of a-z, 0-9, dot, dash and underscore, and begin with a letter or digit.", maxUserName)
	}
	if utf8.RuneCountInString(u.DisplayName) > maxNameChars {
		return fault.New(fault.InvalidRequest, "display_name must have at most %d characters.", maxNameChars)
	}
	return checkNewPassword(u.Password, u.Name)
}

const maxUserName = 64

func validUserName(s string) bool {
	const first, more = "abcdefghijklmnopqrstuvwxyz0123456789", "._-"
	return s != "" && len(s) <= maxUserName && strings.Contains(first, s[:1]) && strings.Trim(s, first+more) == ""
}

func bootstrapDone() error {
	return fault.New(fault.BootstrapDone, "The bootstrap token is wrong or was used already. Ask somebody for an invitation.")
}

func invitationInvalid() error {
	return fault.New(fault.InvitationInvalid, "The invitation was used, has expired or never existed. Ask for a new one.")
}
