package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/paging"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func userOf(u account.User) chat.MemberID  { return chat.OfUser(u.ID) }
func memberOf(a fleet.Agent) chat.MemberID { return chat.OfAgent(a.ID) }

func (w *town) leave(s id.Session, m chat.MemberID) {
	w.t.Helper()
	w.must(w.chat.Leave(w.ctx(), chat.Leaving{Session: s, Member: m, Left: []byte(`{"left":true}`)}))
}

func (w *town) join(s id.Session, by, who account.User) error {
	w.t.Helper()
	read, err := w.chat.Session(w.ctx(), s, by.ID)
	if err != nil {
		return err
	}
	return w.chat.Join(w.ctx(), chat.Joining{
		Session: read, By: by.ID, Member: chat.Member{ID: userOf(who), Role: chat.Participant, JoinedAt: w.now},
		Created: []byte(`{"created":true}`), Joined: []byte(`{"joined":true}`),
	}, w.claim())
}

func TestAConversationIsThereForItsMembersOnly(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob, carl := w.person("ada"), w.person("bob"), w.person("carl")
		w.edge(ada.ID, "scout")
		scout := w.agentOf(ada.ID, "scout")
		opened := w.group(ada, userOf(bob), memberOf(scout))
		s, err := w.chat.Session(t.Context(), opened.ID, bob.ID)
		w.must(err)
		var names []string
		for _, m := range s.Members {
			names = append(names, m.Name)
		}
		if !slices.Equal(names, []string{"ada", "bob", "scout"}) || s.Owner != ada.ID || s.Name != "demo" || s.Members[0].Role != chat.OwnerRole {
			t.Fatalf("session %+v", s)
		}
		_, err = w.chat.Session(t.Context(), opened.ID, carl.ID)
		w.wants(fault.NotFound, err)
		_, err = w.chat.Session(t.Context(), id.NewSession(), carl.ID)
		w.wants(fault.NotFound, err)
		if in, err := w.chat.IsMember(t.Context(), opened.ID, carl.ID); err != nil || in {
			t.Fatalf("IsMember = %v, %v", in, err)
		}
		if heard := w.heard(bob.ID); !slices.Equal(heard, []string{"session.created"}) {
			t.Fatalf("bob heard %v", heard)
		}
	})
}

// Whoever posts needs to know of the agents of a conversation, however many people are in it.
// Who is removed between the read of a conversation and that of its members learns nothing of who is in it then.
func TestWhoHasLeftBetweenTwoReadsIsToldOfNoMembers(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob := w.person("ada"), w.person("bob")
		stays, leaves := w.group(ada, userOf(bob)), w.group(ada, userOf(bob))
		found := []chat.Session{{ID: stays.ID}, {ID: leaves.ID}} // as the first read has them
		w.leave(leaves.ID, userOf(bob))
		still, err := w.chat.withMembers(t.Context(), bob.ID, found)
		w.must(err)
		if len(still) != 1 || still[0].ID != stays.ID || len(still[0].Members) != 2 {
			t.Errorf("bob is told of %+v", still)
		}
		if still, err = w.chat.withMembers(t.Context(), bob.ID, found[1:]); err != nil || len(still) > 0 {
			t.Errorf("bob is told of %+v, %v", still, err)
		}
	})
}

func TestAConversationIsReadWithItsAgentsAlone(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob, carl := w.person("ada"), w.person("bob"), w.person("carl")
		w.edge(ada.ID, "scout")
		w.edge(ada.ID, "worker")
		for name, agents := range map[string][]chat.MemberID{
			"none": nil, "some": {memberOf(w.agentOf(ada.ID, "scout")), memberOf(w.agentOf(ada.ID, "worker"))},
		} {
			opened := w.group(ada, append([]chat.MemberID{userOf(bob)}, agents...)...)
			want, err := w.chat.Session(t.Context(), opened.ID, bob.ID)
			w.must(err)
			want.Members = slices.DeleteFunc(want.Members, func(m chat.Member) bool { return m.ID.Type() != chat.AgentMember })
			got, err := w.chat.WithAgents(t.Context(), opened.ID, bob.ID)
			w.must(err)
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || len(got.Members) != len(agents) {
				t.Errorf("with %s: %+v, want %+v", name, got, want)
			}
			_, err = w.chat.WithAgents(t.Context(), opened.ID, carl.ID)
			w.wants(fault.NotFound, err)
			w.leave(opened.ID, userOf(bob))
			_, err = w.chat.WithAgents(t.Context(), opened.ID, bob.ID)
			w.wants(fault.NotFound, err)
		}
	})
}

func TestConversationsAreListedByTheirLastChange(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		w.now = w.now.Add(-time.Hour)
		var want []id.Session
		for range 5 {
			want = append([]id.Session{w.group(ada).ID}, want...)
			w.now = w.now.Add(time.Second)
		}
		w.post(want[4], ada.ID) // the oldest comes to the front
		want = append([]id.Session{want[4]}, want[:4]...)
		var got []id.Session
		for f := (chat.Filter{Limit: 2}); ; {
			page, next, err := w.chat.Sessions(t.Context(), ada.ID, f)
			w.must(err)
			for _, s := range page {
				got = append(got, s.ID)
			}
			if next == (paging.Mark{}) {
				break
			}
			f.After = next
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if page, _, err := w.chat.Sessions(t.Context(), ada.ID, chat.Filter{Name: "other", Limit: 9}); err != nil || len(page) != 0 {
			t.Fatalf("by name %v, %v", page, err)
		}
	})
}

func TestAMessageKeepsItsAttachments(t *testing.T) {
	eachTown(t, func(w *town) {
		ada := w.person("ada")
		s := w.group(ada)
		want := []wire.Attachment{
			{Kind: "image", URL: "https://example.com/?a=1&b=<2>", Filename: "é.png", MIMEType: "image/png", Size: 12}, {Kind: "file", URL: "data:,x"},
		}
		p := w.posting(s.ID, ada.ID)
		p.Message.Attachments = want
		_, _, err := w.chat.Post(w.ctx(), p)
		w.must(err)
		again, found, err := w.chat.Sent(w.ctx(), s.ID, p.Message.ClientMsgID)
		if err != nil || !found || !slices.Equal(again.Attachments, want) {
			w.t.Errorf("sent %+v, %v", again.Attachments, err)
		}
		all, err := w.chat.After(w.ctx(), s.ID, 0, 10)
		if err != nil || len(all) != 1 || !slices.Equal(all[0].Attachments, want) {
			w.t.Errorf("read %+v, %v", all, err)
		}
	})
}

func TestMessagesOfManySendersAreNumberedWithoutHoles(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		s := w.group(ada)
		errs := together(40, func(int) error {
			_, _, err := w.chat.Post(t.Context(), w.posting(s.ID, ada.ID))
			return err
		})
		if count(errs, "") != 40 {
			t.Fatalf("errors %v", errs)
		}
		all, err := w.chat.After(t.Context(), s.ID, 0, 100)
		w.must(err)
		for i, m := range all {
			if m.Seq != chat.Seq(i+1) || !bytes.Equal(m.Content, []byte(`{"text":"<hi>  é"}`)) {
				t.Fatalf("message %d is %+v", i, m)
			}
		}
		before, err := w.chat.Before(t.Context(), s.ID, 11, 3)
		w.must(err)
		if len(before) != 3 || before[0].Seq != 8 || before[2].Seq != 10 {
			t.Fatalf("before 11: %+v", before)
		}
		if newest, err := w.chat.Before(t.Context(), s.ID, 0, 1); err != nil || newest[0].Seq != 40 {
			t.Fatalf("newest %+v, %v", newest, err)
		}
		if got, err := w.chat.Message(t.Context(), all[0].ID); err != nil || got.ID != all[0].ID {
			t.Fatalf("Message = %+v, %v", got, err)
		}
		_, err = w.chat.MessageIn(t.Context(), id.NewSession(), all[0].ID)
		w.wants(fault.NotFound, err)
	})
}

func TestOfManyMessagesWithOneClientIDOneIsStored(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		s := w.group(ada)
		client := chat.ClientMsgID(uuid.NewString())
		stored := make([]chat.Message, 20)
		again := make([]bool, 20)
		errs := together(20, func(i int) (err error) {
			p := w.posting(s.ID, ada.ID)
			p.Message.ClientMsgID = client
			stored[i], again[i], err = w.chat.Post(t.Context(), p)
			return err
		})
		fresh := 0
		for i := range stored {
			if stored[i].ID != stored[0].ID || stored[i].Seq != 1 {
				t.Fatalf("answers differ: %+v, %+v", stored[0], stored[i])
			}
			if !again[i] {
				fresh++
			}
		}
		if count(errs, "") != 20 || fresh != 1 {
			t.Fatalf("%d fresh, errors %v", fresh, errs)
		}
		if m, found, err := w.chat.Sent(t.Context(), s.ID, client); err != nil || !found || m.ID != stored[0].ID {
			t.Fatalf("Sent = %+v, %v, %v", m, found, err)
		}
		if _, found, err := w.chat.Sent(t.Context(), s.ID, ""); err != nil || found {
			t.Fatalf("Sent without an id = %v, %v", found, err)
		}
	})
}

func TestSEC13NothingBehindARemovalReachesTheRemoved(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob := w.person("ada"), w.person("bob")
		s := w.group(ada, userOf(bob))
		w.post(s.ID, ada.ID)
		w.leave(s.ID, userOf(bob))
		w.post(s.ID, ada.ID)
		w.leave(s.ID, userOf(bob)) // twice is fine, and says nothing
		if heard := w.heard(bob.ID); slices.Contains(heard, "message.new") || heard[len(heard)-1] != "session.member_left" {
			t.Fatalf("bob heard %v", heard)
		}
		_, err := w.chat.Session(t.Context(), s.ID, bob.ID)
		w.wants(fault.NotFound, err)
		_, _, err = w.chat.Post(t.Context(), w.posting(s.ID, bob.ID))
		w.wants(fault.NotFound, err)
		_, err = w.chat.MarkRead(t.Context(), chat.Mark{Session: s.ID, User: bob.ID, To: 1})
		w.wants(fault.NotFound, err)
		w.wants(fault.NotFound, w.join(s.ID, bob, bob)) // cannot come back alone

		w.must(w.join(s.ID, ada, bob))
		w.post(s.ID, ada.ID)
		want := []string{
			"session.created", "message.new", "session.member_left", // as long as they were in
			"session.created", "session.member_joined", "message.read", "message.new", // since they are back; nothing in between
		}
		if heard := w.heard(bob.ID); !slices.Equal(heard, want) {
			t.Fatalf("bob heard %v, want %v", heard, want)
		}
		if heard := w.heard(ada.ID); slices.Index(heard, "session.member_left") < 0 {
			t.Fatalf("ada heard %v", heard)
		}
	})
}

// Who joins is told how the conversation stands, and hears only what changes from then on.
func TestAJoiningFitsWhatItTellsOf(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob, carl := w.person("ada"), w.person("bob"), w.person("carl")
		s := w.group(ada)
		read, err := w.chat.Session(t.Context(), s.ID, ada.ID)
		w.must(err)
		join := func(as chat.Session, who account.User) error {
			return w.chat.Join(t.Context(), chat.Joining{
				Session: as, By: ada.ID, Member: chat.Member{ID: userOf(who), Role: chat.Participant, JoinedAt: w.now},
				Created: []byte(`{}`), Joined: []byte(`{}`),
			}, w.claim())
		}
		w.must(join(read, bob))
		for _, who := range []account.User{bob, carl} {
			if err := join(read, who); !errors.Is(err, chat.ErrMoved) {
				t.Errorf("after another has joined: %v", err)
			}
		}
		read, err = w.chat.Session(t.Context(), s.ID, ada.ID)
		w.must(err)
		w.must(join(read, carl))
	})
}

func TestTheHeirOwnsWhatTheOwnerLeaves(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob, carl := w.person("ada"), w.person("bob"), w.person("carl")
		s := w.group(ada, userOf(bob), userOf(carl))
		then := s
		then.Owner = bob.ID
		leaving := chat.Leaving{Session: s.ID, Member: userOf(ada), Left: []byte(`{}`), Heir: &chat.Update{Now: then, Frame: []byte(`{}`)}}
		w.leave(s.ID, userOf(bob))
		if err := w.chat.Leave(t.Context(), leaving); !errors.Is(err, chat.ErrMoved) {
			t.Fatalf("an heir who has left: %v", err)
		}
		leaving.Heir.Now.Owner = carl.ID
		leaving.Heir.Was = 1
		if err := w.chat.Leave(t.Context(), leaving); !errors.Is(err, chat.ErrMoved) {
			t.Fatalf("of another state: %v", err)
		}
		leaving.Heir.Was = 0
		w.must(w.chat.Leave(t.Context(), leaving))
		got, err := w.chat.Session(t.Context(), s.ID, carl.ID)
		if err != nil || got.Owner != carl.ID || got.Members[0].Role != chat.OwnerRole {
			t.Fatalf("session %+v, %v", got, err)
		}
		if heard := w.heard(carl.ID); heard[len(heard)-1] != "session.info_updated" {
			t.Fatalf("carl heard %v", heard)
		}
	})
}

func TestReadMarksOnlyMoveForward(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		s := w.group(ada)
		for range 3 {
			w.post(s.ID, ada.ID)
		}
		for _, step := range []struct{ to, stands chat.Seq }{{2, 2}, {1, 2}, {2, 2}, {3, 3}} {
			got, err := w.chat.MarkRead(t.Context(), chat.Mark{Session: s.ID, User: ada.ID, To: step.to})
			if err != nil || got.LastRead != step.stands {
				t.Fatalf("mark to %d stands at %+v, %v", step.to, got, err)
			}
		}
		heard := w.heard(ada.ID)
		moves := len(heard) - len(slices.DeleteFunc(slices.Clone(heard), func(f string) bool { return f == "message.read" }))
		if moves != 2 {
			t.Fatalf("%d message.read frames in %v", moves, heard)
		}
	})
}

func newRunOf(s id.Session, by id.User, a fleet.Agent) runlog.NewRun {
	runID := id.NewRun()
	return runlog.NewRun{
		Run: runlog.Run{
			ID: runID, Root: runID, Session: s, Agent: a.ID, AgentName: a.Name, RequestedBy: by, State: run.StateWaitingEdge,
			TraceID: traceID, CreatedAt: time.Now(),
		},
		Placement: runlog.Placement{By: by, Owner: a.Owner, Profile: a.Profile, Runtime: a.Runtime},
		Dispatch:  []byte(`{}`), Frame: []byte(`{}`),
	}
}

func TestAMessageAndItsRunsAreStoredTogetherOrNotAtAll(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob := w.person("ada"), w.person("bob")
		edge := w.edge(ada.ID, "scout")
		scout := w.agentOf(ada.ID, "scout")
		s := w.group(ada, userOf(bob), memberOf(scout))
		asking := func(by account.User) chat.Posting {
			p := w.posting(s.ID, by.ID)
			p.Runs = []runlog.NewRun{newRunOf(s.ID, by.ID, scout)}
			p.Message.Tasks = []id.Run{p.Runs[0].ID}
			p.Message.Mentions = []chat.MemberID{memberOf(scout)}
			return p
		}
		p := asking(ada)
		m, _, err := w.chat.Post(t.Context(), p)
		w.must(err)
		stored, err := w.chat.Message(t.Context(), m.ID)
		if err != nil || !slices.Equal(stored.Tasks, p.Message.Tasks) || !slices.Equal(stored.Mentions, p.Message.Mentions) {
			t.Fatalf("stored %+v, %v", stored, err)
		}
		if heard := w.heard(bob.ID); !slices.Equal(heard, []string{"session.created", "message.new", "agent.dispatch"}) {
			t.Fatalf("bob heard %v", heard)
		}

		_, _, err = w.chat.Post(t.Context(), asking(bob))
		w.wants(fault.AgentOperateRequired, err)
		w.must(w.fleet.Grant(t.Context(), edge, bob.ID))
		_, _, err = w.chat.Post(t.Context(), asking(bob))
		w.must(err)
		w.leave(s.ID, memberOf(scout))
		_, _, err = w.chat.Post(t.Context(), asking(ada))
		w.wants(fault.AgentUnknown, err)
		p = asking(ada)
		p.Message.ReplyTo, p.Runs = id.NewMessage(), nil
		_, _, err = w.chat.Post(t.Context(), p)
		w.wants(fault.NotFound, err)
		if all, err := w.chat.After(t.Context(), s.ID, 0, 10); err != nil || len(all) != 2 || all[1].Seq != 2 {
			t.Fatalf("%d messages, %v", len(all), err)
		}
	})
}

func TestAnAgentsFinalTextIsPostedOnce(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		s := w.group(ada)
		msg, agent, runID := id.NewMessage(), id.NewAgent(), id.NewRun()
		for range 2 {
			err := w.chat.writer.Do(t.Context(), nil, func(ctx context.Context, tx *Tx) error {
				return tx.insertAgentMessage(ctx, msg, s.ID, agent, runID, "done <ok>", w.now)
			})
			w.must(err)
		}
		all, err := w.chat.After(t.Context(), s.ID, 0, 10)
		w.must(err)
		want := `{"text":"done <ok>","agent_task":{"task_id":"` + string(runID) + `"}}`
		if len(all) != 1 || string(all[0].Content) != want || all[0].Sender != chat.OfAgent(agent) || all[0].ClientMsgID != "" {
			t.Fatalf("messages %+v", all)
		}
	})
}
