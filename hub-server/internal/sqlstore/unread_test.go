package sqlstore

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// spoken is a message as a reader who counts one by one sees it.
type spoken struct {
	chat.Message
	by       account.User
	recalled bool
}

// ledger counts what is unread by looking at every message.
type ledger struct {
	all   []spoken
	marks map[id.User]chat.Seq
}

func (l *ledger) unread(of id.User) (n int64) {
	for _, m := range l.all {
		if m.Seq > l.marks[of] && m.by.ID != of && !m.recalled {
			n++
		}
	}
	return n
}

func TestWhatIsUnreadIsWhatOthersHaveSentAndNotTakenBack(t *testing.T) {
	eachTown(t, func(w *town) {
		people := []account.User{w.person("ada"), w.person("bob"), w.person("carl")}
		ada := people[0]
		s := w.group(ada, userOf(people[1]), userOf(people[2]))
		quiet := w.group(ada, userOf(people[1]), userOf(people[2]))
		l := &ledger{marks: map[id.User]chat.Seq{}}
		dice := rand.New(rand.NewPCG(27, 1)) //nolint:gosec // the same days every time
		for range 150 {
			who := people[dice.IntN(len(people))]
			switch dice.IntN(8) {
			case 0, 1, 2, 3:
				l.all = append(l.all, spoken{Message: w.post(s.ID, who.ID), by: who})
			case 4:
				if len(l.all) > 0 {
					i := dice.IntN(len(l.all))
					w.must(w.recall(l.all[i].Message, who))
					l.all[i].recalled = true
				}
			case 5, 6:
				to := chat.Seq(dice.IntN(len(l.all) + 1)) //nolint:gosec // a few
				got, err := w.chat.MarkRead(w.ctx(), chat.Mark{Session: s.ID, User: who.ID, To: to})
				w.must(err)
				l.marks[who.ID] = max(l.marks[who.ID], to)
				if got.LastRead != l.marks[who.ID] || got.Unread != l.unread(who.ID) {
					w.t.Fatalf("marked as %+v", got)
				}
			case 7:
				if who != ada {
					w.leave(s.ID, userOf(who))
					w.must(w.join(s.ID, ada, who))
					l.marks[who.ID] = chat.Seq(len(l.all))
				}
			}
			w.countsAs(l, s.ID, quiet.ID, people)
		}
	})
}

// countsAs demands the same number of each way of asking.
func (w *town) countsAs(l *ledger, s, quiet id.Session, people []account.User) {
	w.t.Helper()
	for _, who := range people {
		want := l.unread(who.ID)
		one, err := w.chat.Session(w.ctx(), s, who.ID)
		w.must(err)
		list, _, err := w.chat.Sessions(w.ctx(), who.ID, chat.Filter{Limit: 10})
		w.must(err)
		i := slices.IndexFunc(list, func(x chat.Session) bool { return x.ID == s })
		badge, err := w.chat.Unread(w.ctx(), who.ID)
		w.must(err)
		if one.Unread != want || list[i].Reading != one.Reading || badge.Messages != want || badge.Sessions != min(want, 1) {
			w.t.Fatalf("%s has %d unread; one %+v, list %+v, badge %+v", who.Name, want, one.Reading, list[i].Reading, badge)
		}
		if i = slices.IndexFunc(list, func(x chat.Session) bool { return x.ID == quiet }); list[i].Unread != 0 {
			w.t.Fatalf("a quiet conversation has %+v", list[i].Reading)
		}
	}
}

func TestTheBadgeLeavesOutWhatIsMutedOrDissolved(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, bob := w.person("ada"), w.person("bob")
		var all []chat.Session
		for range 3 {
			s := w.group(ada, userOf(bob))
			w.post(s.ID, ada.ID)
			all = append(all, s)
		}
		wants := func(messages int64) {
			w.t.Helper()
			if got, err := w.chat.Unread(w.ctx(), bob.ID); err != nil || got != (chat.Badge{Messages: messages, Sessions: messages}) {
				w.t.Errorf("badge %+v, %v; want %d", got, err, messages)
			}
		}
		wants(3)
		w.must(w.chat.Set(w.ctx(), chat.Setting{Session: all[0].ID, User: bob.ID, Now: chat.Settings{Muted: true}, Frame: []byte(`{}`)}))
		wants(2)
		w.must(w.chat.Set(w.ctx(), chat.Setting{Session: all[1].ID, User: bob.ID, Now: chat.Settings{Archived: true}, Frame: []byte(`{}`)}))
		wants(2)
		gone := all[2]
		gone.DissolvedAt = w.now
		w.must(w.chat.Dissolve(w.ctx(), chat.Dissolution{Session: gone, By: ada.ID, Frame: []byte(`{}`)}))
		wants(1)
		w.leave(all[1].ID, userOf(bob))
		wants(0)
	})
}

func TestWhoJoinsHasReadWhatWasSaidBefore(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, bob := w.person("ada"), w.person("bob")
		s := w.group(ada)
		w.must(w.join(s.ID, ada, bob))
		w.leave(s.ID, userOf(bob))
		w.post(s.ID, ada.ID)
		w.must(w.join(s.ID, ada, bob))
		want := []string{"session.created", "session.member_joined", "session.member_left", "session.created", "session.member_joined", "message.read"}
		if heard := w.heard(bob.ID); !slices.Equal(heard, want) {
			w.t.Errorf("bob heard %v", heard)
		}
		w.post(s.ID, ada.ID)
		if got, err := w.chat.Session(w.ctx(), s.ID, bob.ID); err != nil || got.Unread != 1 || got.LastRead != 1 {
			w.t.Errorf("bob has %+v, %v", got.Reading, err)
		}
	})
}
