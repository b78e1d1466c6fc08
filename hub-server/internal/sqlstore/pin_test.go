package sqlstore

import (
	"fmt"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func (w *town) pinning(m chat.Message, by account.User) chat.Pinning {
	return chat.Pinning{Change: w.changeOf(m, by), At: w.now, Frame: []byte(`{"pin":true}`)}
}

func (w *town) reacting(m chat.Message, by account.User, reaction string) chat.Reacting {
	return chat.Reacting{Change: w.changeOf(m, by), Reaction: reaction, Frame: func(count int) ([]byte, error) { return fmt.Appendf(nil, `{"count":%d}`, count), nil }}
}

func TestPinsAreBoundedAndToldOnce(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob := w.person("ada"), w.person("bob")
		s := w.group(ada)
		var all []chat.Message
		for range chat.MaxPins + 1 {
			all = append(all, w.post(s.ID, ada.ID))
		}
		w.wants(fault.NotFound, w.chat.Pin(t.Context(), w.pinning(all[0], bob)))
		errs := together(2, func(int) error { return w.chat.Pin(t.Context(), w.pinning(all[0], ada)) })
		if count(errs, "") != 2 {
			t.Fatalf("errors %v", errs)
		}
		for _, m := range all[1:chat.MaxPins] {
			w.must(w.chat.Pin(t.Context(), w.pinning(m, ada)))
		}
		w.wants(fault.TooLarge, w.chat.Pin(t.Context(), w.pinning(all[chat.MaxPins], ada)))
		w.must(w.chat.Pin(t.Context(), w.pinning(all[0], ada))) // again, though there is no room
		w.twice(func() error { return w.chat.Unpin(t.Context(), w.pinning(all[1], ada)) })
		w.must(w.recall(all[2], ada))
		pinned, err := w.chat.Pinned(t.Context(), s.ID)
		if err != nil || len(pinned) != chat.MaxPins-2 || pinned[0].Pin.By != ada.ID || !pinned[0].Pin.At.Equal(w.now) {
			t.Fatalf("%d pins, %v", len(pinned), err)
		}
		w.wants(fault.NotFound, w.chat.Unpin(t.Context(), w.pinning(all[0], bob)))
		heard := w.heard(ada.ID)
		for frame, want := range map[string]int{"message.pin": chat.MaxPins, "message.unpin": 2, "message.recall": 1} {
			if got := len(heard) - len(slices.DeleteFunc(slices.Clone(heard), func(f string) bool { return f == frame })); got != want {
				t.Errorf("%d of %s, want %d", got, frame, want)
			}
		}
	})
}

func TestReactionsAreCountedAndToldOnce(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob, carl := w.person("ada"), w.person("bob"), w.person("carl")
		s := w.group(ada, userOf(bob))
		m, other := w.post(s.ID, ada.ID), w.post(s.ID, ada.ID)
		w.wants(fault.NotFound, w.chat.React(t.Context(), w.reacting(m, carl, "👍")))
		w.twice(func() error { return w.chat.React(t.Context(), w.reacting(m, ada, "👍")) })
		w.twice(func() error { return w.chat.React(t.Context(), w.reacting(m, bob, "👍")) })
		w.must(w.chat.React(t.Context(), w.reacting(m, bob, "ok")))
		page, err := w.chat.Before(t.Context(), s.ID, 0, 10)
		w.must(err)
		want := []chat.Reaction{{Reaction: "👍", Users: []id.User{ada.ID, bob.ID}}, {Reaction: "ok", Users: []id.User{bob.ID}}}
		if fmt.Sprint(page[0].Reactions) != fmt.Sprint(want) || page[1].ID != other.ID || page[1].Reactions != nil {
			t.Errorf("page %+v", page)
		}
		w.twice(func() error { return w.chat.Unreact(t.Context(), w.reacting(m, ada, "👍")) })
		bounds, err := w.store.Bounds(t.Context())
		w.must(err)
		rows, err := w.store.RowsFor(t.Context(), bob.ID, 0, bounds.Head, 100)
		w.must(err)
		var told []string
		for _, r := range rows[3:] {
			told = append(told, r.FrameType+string(r.Payload))
		}
		wanted := []string{
			`message.reaction_added{"count":1,"change_seq":1}`, `message.reaction_added{"count":2,"change_seq":2}`,
			`message.reaction_added{"count":1,"change_seq":3}`, `message.reaction_removed{"count":1,"change_seq":4}`,
		}
		if !slices.Equal(told, wanted) {
			t.Errorf("told %v", told)
		}
		w.must(w.recall(m, ada))
		if left, err := w.chat.MessageIn(t.Context(), s.ID, m.ID); err != nil || len(left.Reactions) != 0 {
			t.Errorf("left %+v, %v", left, err)
		}
	})
}
