package home

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// maxDevices is how many connections may run under one name.
const maxDevices = 64

// Device is a device of this home, held by the caller until Release. It is the client.Position of its one connection.
type Device struct {
	Name string // "a", or "a-2" if "a" is in use
	file vault
	place
	held *os.File
}

// Keeper holds the device's credentials.
func (d *Device) Keeper() client.Keeper { return d.file }

// Register makes a device on the hub and returns its credentials.
type Register func(ctx context.Context, name string) (client.Credentials, error)

// validName is what may be part of a file name on any system, and cannot be mistaken for another file of the folder.
var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)

// Acquire takes the first device of that name that no other connection uses: name, name-2, name-3 and so on. One that the hub does not
// know, or that belonged to another login, is registered.
func (h Home) Acquire(ctx context.Context, name string, login Login, register Register) (*Device, error) {
	if !validName.MatchString(name) {
		return nil, fmt.Errorf("device name %q: use up to 32 letters, digits, - and _", name)
	}
	if err := h.prepare(); err != nil {
		return nil, err
	}
	device, err := h.free(name)
	if err != nil {
		return nil, err
	}
	if err := device.enter(ctx, login, register); err != nil {
		return nil, errors.Join(err, device.Release())
	}
	return device, nil
}

func (h Home) free(name string) (*Device, error) {
	for n := 1; n <= maxDevices; n++ {
		slot := name
		if n > 1 {
			slot = fmt.Sprintf("%s-%d", name, n)
		}
		held, err := tryLock(h.device(slot + ".lock"))
		if errors.Is(err, errHeld) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("take device %s: %w", slot, err)
		}
		return &Device{Name: slot, file: vault{h.device(slot + ".json")}, place: place{path: h.device(slot + ".cursor")}, held: held}, nil
	}
	return nil, fmt.Errorf("%d connections run as device %s already; stop one or choose another --device", maxDevices, name)
}

// enter makes sure that the device has credentials of this login.
func (d *Device) enter(ctx context.Context, login Login, register Register) error {
	return d.file.change(ctx, func(c contents, err error) (contents, error) {
		if err == nil && c.Login == login.Credentials.DeviceID {
			return c, nil
		}
		fresh, err := register(ctx, d.Name)
		if err != nil {
			return c, fmt.Errorf("register device %s: %w", d.Name, err)
		}
		return contents{Login: login.Credentials.DeviceID, Credentials: fresh}, d.forget()
	})
}

// Release lets others use the device.
func (d *Device) Release() error { return errors.Join(d.close(), d.held.Close()) }

// Devices returns the names that have credentials here, sorted.
func (h Home) Devices() ([]string, error) {
	files, err := filepath.Glob(h.device("*.json"))
	if err != nil {
		return nil, fmt.Errorf("list devices: %w", err)
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	slices.Sort(names)
	return names, nil
}

// DeviceKeeper returns the credentials of a device without taking it.
func (h Home) DeviceKeeper(name string) client.Keeper { return vault{h.device(name + ".json")} }

// ForgetDevice removes a device's credentials and place, so that its next use registers it anew.
func (h Home) ForgetDevice(name string) error {
	at := place{path: h.device(name + ".cursor")}
	return errors.Join(vault{h.device(name + ".json")}.remove(), at.forget())
}
