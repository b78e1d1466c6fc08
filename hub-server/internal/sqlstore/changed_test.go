package sqlstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// changedAfter reads all pages of two, as "MESSAGE:CHANGE".
func (w *town) changedAfter(s id.Session, after chat.ChangeSeq) (all []chat.Message) {
	w.t.Helper()
	for {
		page, err := w.chat.ChangedAfter(w.ctx(), s, after, 2)
		w.must(err)
		all = append(all, page...)
		if len(page) < 2 {
			return all
		}
		after = page[1].Changed
	}
}

func TestWhatHasBecomeOfMessagesIsReadInTheOrderOfTheChanges(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob := w.person("ada"), w.person("bob")
		s, other := w.group(ada, userOf(bob)), w.group(ada)
		var m []chat.Message
		for range 6 {
			m = append(m, w.post(s.ID, ada.ID))
		}
		w.must(w.edit(w.post(other.ID, ada.ID), ada, `{"text":"elsewhere"}`))
		w.must(w.chat.Pin(t.Context(), w.pinning(m[4], bob)))
		w.must(w.edit(m[0], ada, `{"text":"two"}`))
		w.must(w.chat.React(t.Context(), w.reacting(m[2], bob, "👍")))
		w.must(w.chat.Pin(t.Context(), w.pinning(m[3], bob)))
		w.must(w.recall(m[3], ada))
		w.must(w.chat.Unpin(t.Context(), w.pinning(m[4], ada)))

		found := w.changedAfter(s.ID, 0)
		var order []chat.ChangeSeq
		for _, one := range found {
			order = append(order, one.Changed)
		}
		if !slices.Equal(order, []chat.ChangeSeq{2, 3, 5, 6}) {
			t.Fatalf("changes %v", order)
		}
		edited, reacted, recalled, unpinned := found[0], found[1], found[2], found[3]
		if edited.ID != m[0].ID || string(edited.Content) != `{"text":"two"}` || edited.Revision != 1 {
			t.Errorf("edited %+v", edited)
		}
		if reacted.ID != m[2].ID || fmt.Sprint(reacted.Reactions) != fmt.Sprint([]chat.Reaction{{Reaction: "👍", Users: []id.User{bob.ID}}}) {
			t.Errorf("reacted %+v", reacted)
		}
		if recalled.ID != m[3].ID || !recalled.Recalled || recalled.Pin != nil || unpinned.ID != m[4].ID || unpinned.Pin != nil {
			t.Errorf("recalled %+v, unpinned %+v", recalled, unpinned)
		}
		if later := w.changedAfter(s.ID, 5); len(later) != 1 || later[0].ID != m[4].ID {
			t.Errorf("after 5: %+v", later)
		}
		read, err := w.chat.Session(t.Context(), s.ID, ada.ID)
		w.must(err)
		if none := w.changedAfter(s.ID, read.LastChange); read.LastChange != 6 || len(none) != 0 {
			t.Errorf("newest change %d, behind it %+v", read.LastChange, none)
		}
	})
}

// A device goes by the number in a frame: whoever has the frame has every change up to it.
func TestFramesOfChangesCarryTheirNumber(t *testing.T) {
	eachTown(t, func(w *town) {
		ada := w.person("ada")
		m := w.post(w.group(ada).ID, ada.ID)
		w.must(w.chat.React(w.ctx(), w.reacting(m, ada, "👍")))
		w.must(w.chat.Unreact(w.ctx(), w.reacting(m, ada, "👍")))
		w.must(w.chat.Pin(w.ctx(), w.pinning(m, ada)))
		w.must(w.recall(m, ada))
		bounds, err := w.store.Bounds(w.ctx())
		w.must(err)
		rows, err := w.store.RowsFor(w.ctx(), ada.ID, 0, bounds.Head, 100)
		w.must(err)
		var told []string
		for _, r := range rows[2:] {
			told = append(told, r.FrameType+string(r.Payload))
		}
		want := []string{
			`message.reaction_added{"count":1,"change_seq":1}`, `message.reaction_removed{"count":0,"change_seq":2}`, `message.pin{"pin":true,"change_seq":3}`,
			`message.unpin{"unpin":true,"change_seq":4}`, `message.recall{"recall":true,"change_seq":4}`,
		}
		if !slices.Equal(told, want) {
			w.t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
		}
	})
}
