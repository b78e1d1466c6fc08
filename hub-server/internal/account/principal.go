// Package account knows who a caller is: users, their devices, and the tokens that prove them. A login makes a device with a
// refresh family of its own; the device is in as long as its family lives.
package account

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Principal is an authenticated person on one of their devices.
type Principal struct {
	User       id.User
	Name       string // user name, as others mention it
	Role       Role
	Device     id.Device
	DeviceType DeviceType
	Family     Family
}

// Family names the chain of refresh tokens of one device. A socket lives as long as the family of its principal.
type Family string

// Role is what a user may do on the hub as a whole; rights over edges, agents and conversations come from owning and membership.
type Role string

// Roles. The first user is Admin; people who came by invitation are Ordinary.
const (
	Admin    Role = "admin"
	Ordinary Role = "member"
)

// DeviceType is the kind of client behind a device.
type DeviceType string

// Kinds of device.
const (
	Web     DeviceType = "web"
	Desktop DeviceType = "desktop"
	Mobile  DeviceType = "mobile"
	CLI     DeviceType = "cli"
)

// User is a person with a login.
type User struct {
	ID          id.User
	Name        string // unique; what one logs in with and is mentioned by
	DisplayName string
	Role        Role
	CreatedAt   time.Time
}

// Device is one client of a user. It is listed until its family ends.
type Device struct {
	ID         id.Device
	User       id.User
	Type       DeviceType
	Name       string
	Family     Family
	CreatedAt  time.Time
	LastSeenAt time.Time // of its last login or refresh
}
