package sqlstore

import (
	"errors"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func (w *town) private(a account.User, b chat.MemberID) chat.Session {
	return chat.Session{
		ID: id.NewSession(), Type: chat.Private, Owner: a.ID, CreatedAt: w.now, UpdatedAt: w.now, Members: []chat.Member{
			{ID: userOf(a), Role: chat.OwnerRole, JoinedAt: w.now}, {ID: b, Role: chat.Participant, JoinedAt: w.now},
		},
	}
}

func TestAPairHasOnePrivateConversation(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob, carl := w.person("ada"), w.person("bob"), w.person("carl")
		pair := chat.PairOf(userOf(bob), userOf(ada))
		if none, err := w.chat.Paired(t.Context(), pair); err != nil || none != "" {
			t.Fatalf("before there is one: %q, %v", none, err)
		}
		opened := make([]chat.Session, 20)
		errs := together(len(opened), func(i int) error { // of both sides at once
			opened[i] = w.private(ada, userOf(bob))
			if i%2 == 1 {
				opened[i] = w.private(bob, userOf(ada))
			}
			return w.chat.Open(t.Context(), chat.Opening{Session: opened[i], Created: []byte(`{}`)}, w.claim())
		})
		var made []id.Session
		for i, err := range errs {
			switch {
			case err == nil:
				made = append(made, opened[i].ID)
			case !errors.Is(err, chat.ErrMoved):
				t.Errorf("opening %d: %v", i, err)
			}
		}
		standing, err := w.chat.Paired(t.Context(), pair)
		if err != nil || len(made) != 1 || made[0] != standing {
			t.Fatalf("made %v, found %q, %v", made, standing, err)
		}
		w.must(w.chat.Open(t.Context(), chat.Opening{Session: w.private(ada, userOf(carl)), Created: []byte(`{}`)}, w.claim()))
		w.group(ada, userOf(bob)) // has no pair
		w.group(ada, userOf(bob))
		if heard := w.heard(bob.ID); len(heard) != 3 {
			t.Errorf("bob heard %v", heard)
		}
	})
}
