package cards

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// What a message said that was taken back is told to nobody who comes later, at any hub; all else they are told as it was told before.
func TestWhatIsTakenBackIsToldToNobodyWhoComesLater(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		other := w.hub()
		c := s.hub.joined(s.ada, s.session)
		run := s.asked(c, "A secret question.")
		message := s.begins(s.edge, run)
		aside := s.aside("A secret remark.")
		s.says(s.edge, run, message, "Before. ")
		trace, err := s.hub.Traces.Open(t.Context(), s.session)
		s.must(err)
		before := s.stored(trace)
		if n := strings.Count(strings.Join(before, ""), "secret"); n != 2 {
			t.Fatalf("two messages are told %d times:\n%s", n, before)
		}
		found, err := s.record.Runs.Get(t.Context(), run)
		s.must(err)
		s.recall(aside)
		s.recall(found.Trigger)
		s.says(s.edge, run, message, "After.")
		c.until("what comes behind the recall", func(e card.Event) bool { return strings.Contains(string(e.Payload), "After.") })
		for _, at := range []*hub{s.hub, other} {
			late := at.joined(s.ada, s.session)
			late.resume(trace, 0)
			late.until("resumed", func(e card.Event) bool { return strings.HasPrefix(late.kind(e), "resumed") })
			late.lines = nil
			told := late.numbered(len(before) + 1)
			for i, line := range before {
				if got := told[i]; strings.Contains(got, "secret") || got != line && !strings.Contains(line, "secret") || envelopeOf(t, got) != envelopeOf(t, line) {
					t.Errorf("frame %d was\n%s\nand is told as\n%s", i+1, line, got)
				}
			}
		}
	})
}

func envelopeOf(t *testing.T, line string) string {
	t.Helper()
	e, err := card.Decode([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %+v", e.Type, e.Envelope)
}

// aside has ada say something that asks no agent.
func (s *scene) aside(text string) id.Message {
	s.t.Helper()
	content, err := json.Marshal(map[string]string{"text": text})
	s.must(err)
	m, _, err := s.chats.Post(s.t.Context(), chat.Posting{By: s.ada.User, Message: chat.Message{
		ID: id.NewMessage(), Session: s.session, ClientMsgID: chat.ClientMsgID(id.NewMessage()), Sender: s.ada.member(), ContentType: chat.Text, Content: content,
		CreatedAt: time.Now(),
	}})
	s.must(err)
	return m.ID
}

func (s *scene) recall(m id.Message) {
	s.t.Helper()
	s.must(s.chats.Recall(s.t.Context(), chat.Recall{
		Change: chat.Change{By: s.ada.User, Session: s.session, Message: m, May: func(chat.Standing) error { return nil }},
		Frame:  []byte(`{}`), Unpin: []byte(`{}`),
	}))
}
