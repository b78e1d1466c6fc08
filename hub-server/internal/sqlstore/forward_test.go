package sqlstore

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// forwarding are copies of m in conversations.
func (w *town) forwarding(m chat.Message, by account.User, to ...id.Session) chat.Forwarding {
	f := chat.Forwarding{By: by.ID, Source: m.ID, Session: m.Session, Revision: m.Revision}
	for _, s := range to {
		one := w.posting(s, by.ID).Message
		one.Content, one.Attachments = m.Content, m.Attachments
		one.Forwarded = &chat.Origin{SenderType: chat.UserMember, SenderName: "ada", SentAt: m.CreatedAt.UTC()}
		f.Copies = append(f.Copies, one)
	}
	return f
}

func TestAMessageIsForwardedToAllConversationsOrToNone(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob, carl := w.person("ada"), w.person("bob"), w.person("carl")
		from, one, two, theirs := w.group(ada, userOf(bob)), w.group(bob, userOf(carl)), w.group(bob), w.group(carl)
		file := w.upload(w.files(), ada, "plan", []byte("plan"))
		m := w.sent(from.ID, ada, file)

		_, err := w.chat.Forward(t.Context(), w.forwarding(m, bob, one.ID, theirs.ID))
		w.wants(fault.NotFound, err)
		_, err = w.chat.Forward(t.Context(), w.forwarding(m, carl, theirs.ID))
		w.wants(fault.NotFound, err)
		if page, err := w.chat.Before(t.Context(), one.ID, 0, 10); err != nil || len(page) != 0 {
			t.Fatalf("half of it was forwarded: %+v, %v", page, err)
		}
		w.reads(file, "before", map[string]account.User{"ada": ada, "bob": bob}, carl)

		f := w.forwarding(m, bob, one.ID, two.ID, one.ID)
		f.Copies[2].ClientMsgID = f.Copies[0].ClientMsgID
		first, err := w.chat.Forward(t.Context(), f)
		w.must(err)
		again, err := w.chat.Forward(t.Context(), f)
		w.must(err)
		for i := range first {
			if first[i].Again != (i == 2) || !again[i].Again || first[i].ID != again[i].ID || first[i].Seq != 1 {
				t.Errorf("copy %d: %+v, again %+v", i, first[i], again[i])
			}
		}
		kept, err := w.chat.MessageIn(t.Context(), one.ID, first[0].ID)
		w.must(err)
		if *kept.Forwarded != *f.Copies[0].Forwarded || kept.Sender != userOf(bob) || string(kept.Content) != string(m.Content) {
			t.Errorf("kept %+v", kept)
		}
		if heard := w.heard(carl.ID); !slices.Equal(heard, []string{"session.created", "session.created", "message.new"}) {
			t.Errorf("carl heard %v", heard)
		}
		w.reads(file, "forwarded", map[string]account.User{"ada": ada, "bob": bob, "carl": carl})
		w.must(w.recall(kept, bob))
		w.reads(file, "taken back", map[string]account.User{"ada": ada, "bob": bob}, carl)
		if left, err := w.chat.Message(t.Context(), kept.ID); err != nil || left.Forwarded != nil {
			t.Errorf("left %+v, %v", left, err)
		}
	})
}

func TestWhatIsForwardedIsWhatTheMessageSaysThen(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob := w.person("ada"), w.person("bob")
		from, to := w.group(ada, userOf(bob)), w.group(bob)
		m := w.post(from.ID, ada.ID)
		f := w.forwarding(m, bob, to.ID)
		w.must(w.edit(m, ada, `{"text":"two"}`))
		if _, err := w.chat.Forward(t.Context(), f); !errors.Is(err, chat.ErrMoved) {
			t.Errorf("what it said before: %v", err)
		}
		f.Revision = 1
		_, err := w.chat.Forward(t.Context(), f)
		w.must(err)
		w.must(w.recall(m, ada))
		_, err = w.chat.Forward(t.Context(), f) // that is there
		w.must(err)
		late := w.forwarding(m, bob, to.ID)
		_, err = w.chat.Forward(t.Context(), late)
		w.wants(fault.Conflict, err)
		stolen := w.posting(to.ID, bob.ID)
		stolen.Message.ClientMsgID = chat.ClientMsgID(uuid.NewString())
		_, _, err = w.chat.Post(t.Context(), stolen)
		w.must(err)
		other := w.post(from.ID, ada.ID)
		taken := w.forwarding(other, ada, to.ID)
		taken.Copies[0].ClientMsgID = stolen.Message.ClientMsgID
		_, err = w.chat.Forward(t.Context(), taken)
		w.wants(fault.Conflict, err)
		w.leave(from.ID, userOf(bob))
		_, err = w.chat.Forward(t.Context(), w.forwarding(other, bob, to.ID))
		w.wants(fault.NotFound, err)
	})
}

func TestTheNameOfWhoSaidItIsThatOfAPersonOrAnAgent(t *testing.T) {
	eachTown(t, func(w *town) {
		ada := w.person("ada")
		w.edge(ada.ID, "scout")
		for member, want := range map[chat.MemberID]string{
			userOf(ada): "ada", memberOf(w.agentOf(ada.ID, "scout")): "scout", chat.OfUser(id.NewUser()): "", chat.OfAgent(id.NewAgent()): "",
		} {
			if name, err := w.chat.NameOf(w.ctx(), member); err != nil || name != want {
				w.t.Errorf("%s is %q, %v, want %q", member, name, err, want)
			}
		}
	})
}
