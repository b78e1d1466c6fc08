package sqlstore

import (
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// since returns what was entered behind after, without numbers and times, and the last number.
func since(t *testing.T, s *Store, after audit.Seq) ([]audit.Entry, audit.Seq) {
	t.Helper()
	entries, err := NewAudit(s, nil).Entries(t.Context(), after, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		after = entries[i].Seq
		entries[i].Seq, entries[i].At = 0, time.Time{}
	}
	return entries, after
}

// twice does something that may be repeated and then changes nothing.
func (w *town) twice(act func() error) {
	w.t.Helper()
	for range 2 {
		w.must(act())
	}
}

func TestSEC25WhatPeopleDoToAccountsIsEntered(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		first := w.joining("root")
		w.must(w.accounts.AddFirstUser(t.Context(), first))
		inv := w.invitation()
		ada := w.joining("ada")
		w.must(w.accounts.AddInvitedUser(t.Context(), inv.Token.Hash(), ada))
		phone, _ := w.login(ada.User.ID)
		w.must(w.accounts.AddDevice(t.Context(), phone))
		tablet, stolen := w.login(ada.User.ID)
		w.must(w.accounts.AddDeviceOnce(t.Context(), tablet, w.claim()))
		w.twice(func() error {
			_, err := w.accounts.EndDevice(t.Context(), ada.User.ID, phone.Device.ID, account.RevokedByMe, w.now)
			return err
		})
		w.rotate(stolen, w.now)
		w.rotate(stolen, w.now.Add(time.Minute))
		got, _ := since(t, w.store, 0)
		want := []audit.Entry{
			{Act: audit.UserJoined, User: first.User.ID, Target: string(first.User.ID), Detail: "first"},
			{Act: audit.LoggedIn, User: first.User.ID, Target: string(first.Login.Device.ID)},
			{Act: audit.UserInvited, User: inv.CreatedBy, Target: string(inv.ID)},
			{Act: audit.UserJoined, User: ada.User.ID, Target: string(ada.User.ID), Detail: string(inv.ID)},
			{Act: audit.LoggedIn, User: ada.User.ID, Target: string(ada.Login.Device.ID)},
			{Act: audit.LoggedIn, User: ada.User.ID, Target: string(phone.Device.ID)},
			{Act: audit.DeviceAdded, User: ada.User.ID, Target: string(tablet.Device.ID)},
			{Act: audit.DeviceEnded, User: ada.User.ID, Target: string(phone.Device.ID), Detail: string(account.RevokedByMe)},
			{Act: audit.DeviceEnded, User: ada.User.ID, Target: string(tablet.Device.ID), Detail: string(account.TokenReused)},
		}
		if !slices.Equal(got, want) {
			t.Errorf("entered %+v\nwant %+v", got, want)
		}
	})
}

func TestSEC25WhatPeopleDoToMachinesIsEntered(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		owner, bob := w.person("ada"), w.person("bob")
		_, before := since(t, w.store, 0)
		edge := w.edge(owner.ID)
		w.twice(func() error { return w.fleet.Grant(t.Context(), edge, bob.ID) })
		w.twice(func() error { return w.fleet.Ungrant(t.Context(), edge, bob.ID) })
		w.twice(func() error { return w.fleet.RevokeEdge(t.Context(), edge) })
		if err := w.fleet.Grant(t.Context(), edge, id.NewUser()); err == nil {
			t.Error("a grant to nobody was taken")
		}
		got, _ := since(t, w.store, before)
		want := []audit.Entry{
			{Act: audit.EdgeInvited, User: owner.ID, Target: string(edge)},
			{Act: audit.EdgeEnrolled, User: owner.ID, Target: string(edge)},
			{Act: audit.OperateGranted, User: owner.ID, Target: string(edge), Detail: string(bob.ID)},
			{Act: audit.OperateTaken, User: owner.ID, Target: string(edge), Detail: string(bob.ID)},
			{Act: audit.EdgeRevoked, User: owner.ID, Target: string(edge)},
		}
		if !slices.Equal(got, want) {
			t.Errorf("entered %+v\nwant %+v", got, want)
		}
	})
}

func TestSEC25WhatPeopleDecideAboutRunsIsEntered(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		request := a.ask(event.Person, `{}`)
		for range 2 {
			a.must(request, event.Allow)
			if _, err := a.Runs.Cancel(t.Context(), a.n.ID, a.ada.User); err != nil {
				t.Fatal(err)
			}
		}
		got, _ := since(t, a.store, 0)
		want := []audit.Entry{
			{Act: audit.PromptAnswered, User: a.ada.User, Target: string(request), Detail: string(a.n.ID)},
			{Act: audit.RunCancelled, User: a.ada.User, Target: string(a.n.ID)},
		}
		if !slices.Equal(got, want) {
			t.Errorf("entered %+v\nwant %+v", got, want)
		}
	})
}
