package account

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// MaxDevices is how many live devices one user may have.
const MaxDevices = 500

// EndReason says why a device's family ended, for whoever looks into the store.
type EndReason string

// Reasons.
const (
	LoggedOut   EndReason = "logout"
	RevokedByMe EndReason = "revoked"
	TokenReused EndReason = "refresh_reused"
)

// DeviceStore keeps devices and the families of their tokens. Each write is one transaction; all methods are safe for concurrent use.
type DeviceStore interface {
	// Credential returns the user with that name and their password hash; a zero user and "" when there is none.
	Credential(ctx context.Context, name string) (User, string, error)
	// AddDevice fails with TooLarge when the user has MaxDevices live ones.
	AddDevice(ctx context.Context, l NewLogin) error
	// AddDeviceOnce is AddDevice with a claim; *Repeated when the attempt was answered before.
	AddDeviceOnce(ctx context.Context, l NewLogin, claim Claim) error
	// Rotate applies JudgeRefresh to the presented token, and what follows from it, in one transaction.
	Rotate(ctx context.Context, r Rotation) (Rotated, error)
	// LiveDevice returns the device and its user while its family is neither ended nor expired; NotFound otherwise.
	LiveDevice(ctx context.Context, family Family, now time.Time) (User, Device, error)
	// LiveDevices returns the user's devices whose family lives, newest first.
	LiveDevices(ctx context.Context, user id.User, now time.Time) ([]Device, error)
	// EndDevice ends the family of a device of the user and returns it; NotFound when the user has no such device. Ending twice is fine.
	EndDevice(ctx context.Context, user id.User, device id.Device, why EndReason, now time.Time) (Family, error)
	// EndDevices ends the families of all devices of the user and returns those that lived.
	EndDevices(ctx context.Context, user id.User, why EndReason, now time.Time) ([]Family, error)
}

// Devices logs people in and out and knows whether a device is still in. It is safe for concurrent use.
type Devices struct {
	Store    DeviceStore
	Hasher   *Hasher
	Issuer   *Issuer
	Attempts *Attempts
	Now      Clock
	// Ended is told about every family that ends on this hub, after the commit, so that its sockets close at once. It must not block.
	Ended func(Family)
}

// Credentials is what a person types.
type Credentials struct {
	Name     string
	Password string
}

// Login checks name and password and makes a device. Every failure of them is the same InvalidCredentials after the same work.
func (d *Devices) Login(ctx context.Context, c Credentials, device NewDevice) (Login, error) {
	if err := device.check(); err != nil {
		return Login{}, err
	}
	user, hash, err := d.Store.Credential(ctx, c.Name)
	if err != nil {
		return Login{}, fmt.Errorf("look up user: %w", err)
	}
	ok, err := d.Hasher.Verify(ctx, c.Password, hash)
	if err != nil {
		return Login{}, err
	}
	if !ok {
		return Login{}, fault.New(fault.InvalidCredentials, "The user name or the password is wrong.")
	}
	login, stored, err := d.Issuer.mint(user, device)
	if err != nil {
		return Login{}, err
	}
	return login, d.Store.AddDevice(ctx, stored)
}

// Register makes a further device of the caller, with a family of its own that outlives the caller's.
func (d *Devices) Register(ctx context.Context, by Principal, device NewDevice, attempt Attempt) (Login, error) {
	if err := device.check(); err != nil {
		return Login{}, err
	}
	return Once(ctx, d.Attempts, attempt, func(claim func(Login) (Claim, error)) (Login, error) {
		user, _, err := d.Store.LiveDevice(ctx, by.Family, d.Now.Moment())
		if err != nil {
			return Login{}, fmt.Errorf("look up caller: %w", err)
		}
		login, stored, err := d.Issuer.mint(user, device)
		if err != nil {
			return Login{}, err
		}
		c, err := claim(login)
		if err != nil {
			return Login{}, err
		}
		return login, d.Store.AddDeviceOnce(ctx, stored, c)
	})
}

// Refresh trades a refresh token for a new pair (SEC7).
func (d *Devices) Refresh(ctx context.Context, presented Token) (Login, error) {
	if !presented.Is(RefreshToken) {
		return Login{}, refreshRefused()
	}
	next := NewToken(RefreshToken)
	sealed, err := sealSuccessor(presented, next)
	if err != nil {
		return Login{}, err
	}
	r, err := d.Store.Rotate(ctx, Rotation{Presented: presented.Hash(), Next: next.Hash(), Sealed: sealed, Now: d.Now.Moment()})
	if err != nil {
		return Login{}, fmt.Errorf("rotate: %w", err)
	}
	switch r.Verdict {
	case Theft:
		d.Ended(r.Device.Family)
		return Login{}, refreshRefused()
	case Refuse:
		return Login{}, refreshRefused()
	case Replay:
		if next, err = openSuccessor(presented, r.Sealed); err != nil {
			return Login{}, err
		}
	}
	access, err := d.Issuer.Issue(r.Device)
	return Login{User: r.User, Device: r.Device, Access: access, Refresh: next}, err
}

// Authenticate returns the principal of an access token whose family lives: a logout counts at once, not when the token expires.
func (d *Devices) Authenticate(ctx context.Context, token AccessToken) (Principal, error) {
	claimed, err := d.Issuer.verify(token)
	if err != nil {
		return Principal{}, err
	}
	user, device, err := d.Store.LiveDevice(ctx, claimed.family, d.Now.Moment())
	if fault.CodeOf(err) == fault.NotFound {
		return Principal{}, unauthenticated(err)
	}
	if err != nil {
		return Principal{}, fmt.Errorf("look up device: %w", err)
	}
	if user.ID != claimed.user || device.ID != claimed.device {
		return Principal{}, unauthenticated(nil)
	}
	return Principal{
		User: user.ID, Name: user.Name, Role: user.Role, Device: device.ID, DeviceType: device.Type, Family: device.Family,
	}, nil
}

// FamilyAlive says whether sockets of the family may stay open. On an error nobody knows; ask again.
func (d *Devices) FamilyAlive(ctx context.Context, family Family) (bool, error) {
	_, _, err := d.Store.LiveDevice(ctx, family, d.Now.Moment())
	if fault.CodeOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil, err
}

// Me returns the caller's user and device.
func (d *Devices) Me(ctx context.Context, p Principal) (User, Device, error) {
	return d.Store.LiveDevice(ctx, p.Family, d.Now.Moment())
}

// List returns the caller's live devices, newest first.
func (d *Devices) List(ctx context.Context, p Principal) ([]Device, error) {
	return d.Store.LiveDevices(ctx, p.User, d.Now.Moment())
}

// Logout ends the caller's own device.
func (d *Devices) Logout(ctx context.Context, p Principal) error {
	return d.end(ctx, p.User, p.Device, LoggedOut)
}

// LogoutEverywhere ends all devices of the caller, the one that asks among them.
func (d *Devices) LogoutEverywhere(ctx context.Context, p Principal) error {
	ended, err := d.Store.EndDevices(ctx, p.User, LoggedOut, d.Now.Moment())
	if err != nil {
		return fmt.Errorf("end devices: %w", err)
	}
	for _, family := range ended {
		d.Ended(family)
	}
	return nil
}

// Revoke ends a device of the caller; NotFound for any other.
func (d *Devices) Revoke(ctx context.Context, p Principal, device id.Device) error {
	return d.end(ctx, p.User, device, RevokedByMe)
}

func (d *Devices) end(ctx context.Context, user id.User, device id.Device, why EndReason) error {
	family, err := d.Store.EndDevice(ctx, user, device, why, d.Now.Moment())
	if err != nil {
		return fmt.Errorf("end device: %w", err)
	}
	d.Ended(family)
	return nil
}
