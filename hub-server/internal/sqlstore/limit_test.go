package sqlstore

import (
	"fmt"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestNobodyIsInMoreGroupsThanTheLimit(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, bob := w.person("ada"), w.person("bob")
		few := chat.Limits{Members: 2, Groups: 2}
		open := func(owner account.User, others ...account.User) (chat.Session, error) {
			s := chat.Session{ID: id.NewSession(), Type: chat.Group, Name: "few", Owner: owner.ID, CreatedAt: w.now, UpdatedAt: w.now}
			for i, who := range append([]account.User{owner}, others...) {
				s.Members = append(s.Members, chat.Member{ID: userOf(who), Role: chat.Participant, JoinedAt: w.now})
				if i == 0 {
					s.Members[0].Role = chat.OwnerRole
				}
			}
			return s, w.chat.Open(w.ctx(), chat.Opening{Session: s, Created: []byte(`{}`), Limits: few}, w.claim())
		}
		first, err := open(ada, bob)
		w.must(err)
		_, err = open(ada)
		w.must(err)
		_, err = open(ada)
		w.wants(fault.TooLarge, err)
		_, err = open(bob, ada)
		w.wants(fault.TooLarge, err)
		joining := func(s chat.Session, by, who account.User) error {
			now, err := w.chat.Session(w.ctx(), s.ID, by.ID)
			w.must(err)
			return w.chat.Join(w.ctx(), chat.Joining{
				Session: now, By: by.ID, Member: chat.Member{ID: userOf(who), Role: chat.Participant, JoinedAt: w.now},
				Created: []byte(`{}`), Joined: []byte(`{}`), Limits: few,
			}, w.claim())
		}
		w.wants(fault.TooLarge, joining(first, ada, w.person("carl"))) // a third member
		others, err := open(bob)
		w.must(err)
		w.wants(fault.TooLarge, joining(others, bob, ada)) // her third group
		w.leave(first.ID, userOf(ada))
		w.must(joining(others, bob, ada))
		for i := range 3 {
			pal := w.private(ada, userOf(w.person(fmt.Sprintf("pal%d", i)))) // which is no group
			w.must(w.chat.Open(w.ctx(), chat.Opening{Session: pal, Created: []byte(`{}`), Limits: few}, w.claim()))
		}
	})
}
