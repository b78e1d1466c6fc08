package sqlstore

import (
	"fmt"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func always(chat.Standing) error { return nil }

func (w *town) changeOf(m chat.Message, by account.User) chat.Change {
	return chat.Change{By: by.ID, Session: m.Session, Message: m.ID, May: always}
}

func (w *town) recall(m chat.Message, by account.User) error {
	return w.chat.Recall(w.ctx(), chat.Recall{Change: w.changeOf(m, by), Frame: []byte(`{"recall":true}`), Unpin: []byte(`{"unpin":true}`)})
}

func (w *town) edit(m chat.Message, by account.User, content string, attachments ...wire.Attachment) error {
	return w.chat.Edit(w.ctx(), chat.Edit{Change: w.changeOf(m, by), Content: []byte(content), Attachments: attachments})
}

func TestWhatWasRecalledIsErased(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob, carl := w.person("ada"), w.person("bob"), w.person("carl")
		s := w.group(ada, userOf(bob))
		p := w.posting(s.ID, bob.ID)
		p.Message.Attachments = []wire.Attachment{{Kind: "file", URL: "https://example.com/secret"}}
		p.Message.Content = []byte(`{"text":"a secret word"}`)
		m, _, err := w.chat.Post(t.Context(), p)
		w.must(err)

		w.wants(fault.NotFound, w.recall(m, carl))
		other := m
		other.ID = id.NewMessage()
		w.wants(fault.NotFound, w.recall(other, bob))
		refused := chat.Recall{Change: w.changeOf(m, bob)}
		refused.May = func(s chat.Standing) error {
			if s.Owner != ada.ID || s.Type != chat.Group || s.Message.ID != m.ID || s.Message.Sender != userOf(bob) {
				t.Errorf("judged by %+v", s)
			}
			return fault.New(fault.RecallTimeout, "too old")
		}
		w.wants(fault.RecallTimeout, w.chat.Recall(t.Context(), refused))

		_, before := since(t, w.store, 0)
		w.twice(func() error { return w.recall(m, ada) })
		got, err := w.chat.Message(t.Context(), m.ID)
		w.must(err)
		if !got.Recalled || string(got.Content) != "{}" || len(got.Attachments) != 0 || got.Seq != m.Seq || got.Changed != 1 {
			t.Errorf("left %+v", got)
		}
		var kept int
		const search = `SELECT COUNT(*) FROM messages WHERE CAST(content AS TEXT) LIKE '%secret%' OR attachments LIKE '%secret%'`
		if w.store.dialect.advisory {
			w.must(w.store.readDB.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM messages WHERE encode(content, 'escape') LIKE '%secret%' OR attachments LIKE '%secret%'`).Scan(&kept))
		} else {
			w.must(w.store.readDB.QueryRowContext(t.Context(), search).Scan(&kept))
		}
		if kept != 0 {
			t.Errorf("%d rows still have what it said", kept)
		}
		if heard := w.heard(bob.ID); !slices.Equal(heard, []string{"session.created", "message.new", "message.recall"}) {
			t.Errorf("bob heard %v", heard)
		}
		want := []audit.Entry{{Act: audit.MessageTaken, User: ada.ID, Target: string(m.ID)}}
		if entered, _ := since(t, w.store, before); !slices.Equal(entered, want) {
			t.Errorf("entered %+v", entered)
		}
		w.must(w.recall(w.post(s.ID, bob.ID), bob))
		if entered, _ := since(t, w.store, before); len(entered) != 1 {
			t.Errorf("a sender's own recall was entered: %+v", entered)
		}
		w.leave(s.ID, userOf(bob))
		w.wants(fault.NotFound, w.recall(m, bob))
	})
}

func TestAnEditIsTheNextRevisionAndTheSameAgainIsNone(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob := w.person("ada"), w.person("bob")
		s := w.group(ada)
		m := w.post(s.ID, ada.ID)
		w.wants(fault.NotFound, w.edit(m, bob, `{"text":"mine"}`))
		link := wire.Attachment{Kind: "file", URL: "https://example.com/"}
		for i, step := range []struct {
			content     string
			attachments []wire.Attachment
			revision    chat.Revision
		}{
			{string(m.Content), nil, 0}, {`{"text":"two"}`, nil, 1}, {`{"text":"two"}`, nil, 1},
			{`{"text":"two"}`, []wire.Attachment{link}, 2}, {`{"text":"two"}`, []wire.Attachment{link}, 2}, {`{"text":"three"}`, nil, 3},
		} {
			w.must(w.edit(m, ada, step.content, step.attachments...))
			got, err := w.chat.MessageIn(t.Context(), s.ID, m.ID)
			w.must(err)
			if got.Revision != step.revision || string(got.Content) != step.content || got.EditedAt.IsZero() != (step.revision == 0) ||
				fmt.Sprint(got.Attachments) != fmt.Sprint(step.attachments) || got.Seq != 1 || !got.CreatedAt.Equal(m.CreatedAt) {
				t.Errorf("step %d: %+v", i, got)
			}
		}
		if heard := w.heard(ada.ID); !slices.Equal(heard, []string{"session.created", "message.new", "message.new", "message.new", "message.new"}) {
			t.Errorf("ada heard %v", heard)
		}
		if found, err := w.chat.Session(t.Context(), s.ID, ada.ID); err != nil || found.LastSeq != 1 {
			t.Errorf("session %+v, %v", found, err)
		}
	})
}

func TestManyEditsAtOnceAreNumberedOneByOne(t *testing.T) {
	eachTown(t, func(w *town) {
		ada := w.person("ada")
		m := w.post(w.group(ada).ID, ada.ID)
		errs := together(20, func(i int) error { return w.edit(m, ada, fmt.Sprintf(`{"text":"%d"}`, i)) })
		got, err := w.chat.Message(w.ctx(), m.ID)
		if count(errs, "") != 20 || err != nil || got.Revision != 20 || got.Changed != 20 {
			w.t.Errorf("%v: %+v, %v", errs, got, err)
		}
	})
}

func TestNoRunIsStartedForAMessageThatWasRecalled(t *testing.T) {
	eachTown(t, func(w *town) {
		ada := w.person("ada")
		w.edge(ada.ID, "scout")
		scout := w.agentOf(ada.ID, "scout")
		s := w.group(ada, memberOf(scout))
		m := w.post(s.ID, ada.ID)
		run := newRunOf(s.ID, ada.ID, scout)
		run.Trigger = m.ID
		w.must(w.recall(m, ada))
		w.wants(fault.Conflict, w.chat.StartOnce(w.ctx(), ada.ID, run, w.claim()))
	})
}
