package sqlstore

import (
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/contact"
	"github.com/switchyard-dev/switchyard/hub-server/internal/presence"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// stands is how other stands on somebody's list; "" for not on it.
func (w *town) stands(c *contact.Contacts, of, other id.User) contact.State {
	w.t.Helper()
	all, err := c.List(w.t.Context(), of)
	w.must(err)
	for _, one := range all {
		if one.ID == other {
			return one.State
		}
	}
	return ""
}

func TestFriendsBlocksAndDeclinesHoldOnBothStores(t *testing.T) {
	eachTown(t, func(w *town) {
		store := NewContacts(w.store, w.accounts.writer)
		var changed []presence.Pair
		people := &contact.Contacts{Store: store, Presence: nobody{}, Changed: func(a, b id.User) { changed = append(changed, presence.PairOf(a, b)) }}
		ada, bob := w.person("ada"), w.person("bob")
		a, b := account.Principal{User: ada.ID}, account.Principal{User: bob.ID}
		check := func(adas, bobs contact.State) {
			w.t.Helper()
			if got, theirs := w.stands(people, ada.ID, bob.ID), w.stands(people, bob.ID, ada.ID); got != adas || theirs != bobs {
				w.t.Errorf("stand as %q and %q, want %q and %q", got, theirs, adas, bobs)
			}
			friends, err := store.AreFriends(w.t.Context(), bob.ID, ada.ID)
			w.must(err)
			all, err := store.FriendsOf(w.t.Context(), ada.ID)
			if w.must(err); friends != (adas == contact.Friend) || friends != (len(all) == 1 && all[0] == bob.ID) {
				w.t.Errorf("friends: %v, those of ada: %v, but they stand as %q", friends, all, adas)
			}
		}
		asked, err := people.Ask(w.t.Context(), a, "bob", "hi")
		w.must(err)
		check(contact.Sent, contact.Received)
		_, err = people.Accept(w.t.Context(), ada.ID, asked.Request)
		w.wants(fault.NotFound, err)
		w.must(people.Decline(w.t.Context(), bob.ID, asked.Request))
		check(contact.Sent, "")
		_, err = people.Ask(w.t.Context(), b, "ada", "")
		w.must(err)
		check(contact.Friend, contact.Friend)
		w.must(people.Block(w.t.Context(), ada.ID, bob.ID))
		check(contact.Blocked, "")
		_, err = people.Ask(w.t.Context(), b, "ada", "")
		w.wants(fault.NotFound, err)
		w.must(people.Remove(w.t.Context(), bob.ID, ada.ID))
		check(contact.Blocked, "")
		w.must(people.Unblock(w.t.Context(), ada.ID, bob.ID))
		check("", "")
		w.must(people.Unblock(w.t.Context(), ada.ID, bob.ID))
		if want := presence.PairOf(ada.ID, bob.ID); !slices.Equal(changed, []presence.Pair{want, want}) {
			w.t.Errorf("told of changes between %v, want of the beginning and the end of one friendship", changed)
		}
	})
}

// nobody is who is online in tests that are about something else.
type nobody struct{}

func (nobody) Online(id.User) bool { return false }

func TestWhenAFriendWasSeenLastIsToldToFriendsAlone(t *testing.T) {
	eachTown(t, func(w *town) {
		people := &contact.Contacts{Store: NewContacts(w.store, w.accounts.writer), Presence: nobody{}, Changed: func(_, _ id.User) {}}
		ada, bob := w.person("ada"), w.person("bob")
		login, _ := w.login(bob.ID)
		login.Device.LastSeenAt = w.now.Add(time.Hour)
		w.must(w.accounts.AddDevice(w.t.Context(), login))
		seen := func() time.Time {
			all, err := people.List(w.t.Context(), ada.ID)
			if w.must(err); len(all) != 1 {
				w.t.Fatalf("list %+v", all)
			}
			return all[0].LastSeen
		}
		asked, err := people.Ask(w.t.Context(), account.Principal{User: ada.ID}, "bob", "")
		if w.must(err); !seen().IsZero() {
			w.t.Error("who has only been asked is seen")
		}
		_, err = people.Accept(w.t.Context(), bob.ID, asked.Request)
		if w.must(err); !seen().Equal(login.Device.LastSeenAt) {
			w.t.Errorf("seen at %s, want %s", seen(), login.Device.LastSeenAt)
		}
		w.must(people.Block(w.t.Context(), ada.ID, bob.ID))
		if !seen().IsZero() {
			w.t.Error("who was blocked is seen")
		}
	})
}

func TestAllDevicesOfOnePersonEndTogether(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, bob := w.person("ada"), w.person("bob")
		login, _ := w.login(ada.ID)
		w.must(w.accounts.AddDevice(w.t.Context(), login))
		for _, want := range []int{2, 0} {
			ended, err := w.accounts.EndDevices(w.t.Context(), ada.ID, account.LoggedOut, w.now)
			if w.must(err); len(ended) != want {
				w.t.Errorf("%d families ended, want %d", len(ended), want)
			}
		}
		for user, want := range map[id.User]int{ada.ID: 0, bob.ID: 1} {
			live, err := w.accounts.LiveDevices(w.t.Context(), user, w.now)
			if w.must(err); len(live) != want {
				w.t.Errorf("%d devices live, want %d", len(live), want)
			}
		}
	})
}
