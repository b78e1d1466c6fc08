package account

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Login is what a device gets: who it belongs to and its pair of tokens.
type Login struct {
	User    User
	Device  Device
	Access  AccessToken
	Refresh Token
}

// NewDevice is how a client describes the device that logs in.
type NewDevice struct {
	Type DeviceType
	Name string
}

const maxNameChars = 100

func (d NewDevice) check() error {
	switch d.Type {
	case Web, Desktop, Mobile, CLI:
	default:
		return fault.New(fault.InvalidRequest, "device.type must be one of web, desktop, mobile, cli.")
	}
	return checkLabel("device.name", d.Name)
}

// checkLabel accepts 1 to 100 characters of one line.
func checkLabel(field, s string) error {
	if n := utf8.RuneCountInString(s); n == 0 || n > maxNameChars || !utf8.ValidString(s) {
		return fault.New(fault.InvalidRequest, "%s must have 1 to %d characters.", field, maxNameChars)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fault.New(fault.InvalidRequest, "%s must not contain control characters.", field)
	}
	return nil
}

// NewLogin is a device with the first token of its family, ready to be stored.
type NewLogin struct {
	Device  Device
	Refresh TokenHash
	Expires time.Time // of the family, unless it is refreshed before
}

func newFamily() Family { return Family("fam_" + hex.EncodeToString(newSecret()[:16])) }

// mint draws a device, its family and their first tokens. Nothing is valid before NewLogin is stored.
func (i *Issuer) mint(u User, d NewDevice) (Login, NewLogin, error) {
	now := i.now.Moment()
	device := Device{
		ID: id.NewDevice(), User: u.ID, Type: d.Type, Name: d.Name, Family: newFamily(),
		CreatedAt: now, LastSeenAt: now,
	}
	access, err := i.Issue(device)
	if err != nil {
		return Login{}, NewLogin{}, fmt.Errorf("mint login: %w", err)
	}
	refresh := NewToken(RefreshToken)
	return Login{User: u, Device: device, Access: access, Refresh: refresh},
		NewLogin{Device: device, Refresh: refresh.Hash(), Expires: now.Add(FamilyIdle)}, nil
}
