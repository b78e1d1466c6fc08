package rig

import "github.com/switchyard-dev/switchyard/hub-server/client"

// Befriend makes friends of two people, who go by these names.
func Befriend(a *Device, nameA string, b *Device, nameB string) {
	a.rig.T.Helper()
	for _, side := range []struct {
		by   *Device
		name string
	}{{a, nameB}, {b, nameA}} {
		_, err := client.Decode[client.Contact](side.by.API().RequestContact(a.rig.T.Context(), client.ContactInput{Username: side.name}))
		if err != nil {
			a.rig.T.Fatalf("befriend %s: %v", side.name, err)
		}
	}
}

// Contact is a line of the person's list; the zero Contact if there is none.
func (d *Device) Contact(user string) client.Contact {
	d.rig.T.Helper()
	list, err := client.Decode[client.ContactList](d.API().ListContacts(d.rig.T.Context()))
	if err != nil {
		d.rig.T.Fatalf("list contacts: %v", err)
	}
	for _, c := range list.Items {
		if c.UserID == user {
			return c
		}
	}
	return client.Contact{}
}

// At is the same device with the same login, as it connects at another address.
func (d *Device) At(hub string) *Device {
	d.rig.T.Helper()
	login, err := d.Keeper.Load()
	if err != nil {
		d.rig.T.Fatalf("read login: %v", err)
	}
	return d.rig.device(d.Name+", elsewhere", hub, login)
}
