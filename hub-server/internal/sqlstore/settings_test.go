package sqlstore

import (
	"errors"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestSettingsAreHeardByTheirMemberAloneAndEndWithTheMembership(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob, carl := w.person("ada"), w.person("bob"), w.person("carl")
		s := w.group(ada, userOf(bob))
		set := chat.Setting{Session: s.ID, User: bob.ID, Now: chat.Settings{Pinned: true, Muted: true}, Frame: []byte(`{"settings":true}`)}
		w.must(w.chat.Set(t.Context(), set))
		if err := w.chat.Set(t.Context(), set); !errors.Is(err, chat.ErrMoved) {
			t.Errorf("of another state: %v", err)
		}
		stranger := set
		stranger.User = carl.ID
		if err := w.chat.Set(t.Context(), stranger); !errors.Is(err, chat.ErrMoved) { // and a stranger is not there when it is read again
			t.Errorf("by a stranger: %v", err)
		}
		_, err := w.chat.Session(t.Context(), s.ID, carl.ID)
		w.wants(fault.NotFound, err)
		if got := w.settings(s.ID, bob.ID); got != (chat.Settings{Pinned: true, Muted: true, Version: 1}) {
			t.Errorf("bob has %+v", got)
		}
		if got := w.settings(s.ID, ada.ID); got != (chat.Settings{}) {
			t.Errorf("ada has %+v", got)
		}
		if heard := w.heard(ada.ID); slices.Contains(heard, "session.info_updated") {
			t.Errorf("ada heard %v", heard)
		}
		if heard := w.heard(bob.ID); heard[len(heard)-1] != "session.info_updated" {
			t.Errorf("bob heard %v", heard)
		}
		w.leave(s.ID, userOf(bob))
		if err := w.chat.Set(t.Context(), chat.Setting{Session: s.ID, User: bob.ID, Was: 1, Frame: []byte(`{}`)}); !errors.Is(err, chat.ErrMoved) {
			t.Errorf("after leaving: %v", err)
		}
		w.must(w.join(s.ID, ada, bob))
		if got := w.settings(s.ID, bob.ID); got != (chat.Settings{}) {
			t.Errorf("after coming back %+v", got)
		}
	})
}

func (w *town) settings(s id.Session, user id.User) chat.Settings {
	w.t.Helper()
	read, err := w.chat.Session(w.t.Context(), s, user)
	w.must(err)
	return read.Settings
}
