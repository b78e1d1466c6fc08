package sqlstore

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestPeopleAreFoundInAConversationAsLongAsTheyAreThere(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, bob, carl := w.person("ada"), w.person("bob"), w.person("carl")
		s := w.group(ada, userOf(bob))
		all := []id.User{ada.ID, bob.ID, carl.ID, id.NewUser()}
		names := []string{"ada", "bob", "carl", "nobody"}
		for _, want := range [][]id.User{{ada.ID, bob.ID}, {ada.ID}} {
			in, err := w.chat.PeopleIn(w.ctx(), s.ID, all)
			w.must(err)
			named, err := w.chat.Named(w.ctx(), s.ID, names)
			w.must(err)
			for _, found := range [][]id.User{in, named} {
				slices.Sort(found)
				slices.Sort(want)
				if !slices.Equal(found, want) {
					w.t.Errorf("found %v, want %v", found, want)
				}
			}
			w.leave(s.ID, userOf(bob))
		}
		if none, err := w.chat.PeopleIn(w.ctx(), s.ID, nil); err != nil || len(none) != 0 {
			w.t.Errorf("of nobody %v, %v", none, err)
		}
	})
}

func TestMentionsAreKeptUntilTheMessageIsRecalled(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, bob := w.person("ada"), w.person("bob")
		p := w.posting(w.group(ada, userOf(bob)).ID, ada.ID)
		p.Message.Mentions = []chat.MemberID{userOf(bob)}
		m, _, err := w.chat.Post(w.ctx(), p)
		w.must(err)
		e := chat.Edit{Change: w.changeOf(m, ada), Content: m.Content, Mentions: []chat.MemberID{userOf(bob), userOf(ada)}}
		w.twice(func() error { return w.chat.Edit(w.ctx(), e) })
		edited, err := w.chat.Message(w.ctx(), m.ID)
		w.must(err)
		w.must(w.recall(m, ada))
		left, err := w.chat.Message(w.ctx(), m.ID)
		w.must(err)
		if !slices.Equal(edited.Mentions, e.Mentions) || edited.Revision != 1 || len(left.Mentions) != 0 {
			w.t.Errorf("edited %+v, left %+v", edited, left)
		}
	})
}
