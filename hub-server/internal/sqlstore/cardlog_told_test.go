package sqlstore

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestOpenQuestionsAreAskedAgainInTheSameBytes(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		var requests []id.Request
		hub := a.teller(echoes(1))
		for range 3 {
			requests = append(requests, a.inquire(event.PromptQuestion, `{"question":"Which one?","options":[{"label":"a"}]}`, 0))
			opened(t, hub, a.n.Session)
		}
		trace := opened(t, hub, a.n.Session)
		all := whole(t, hub, trace.ID, 0, 1<<20)
		if _, err := a.reply(wire.Answer{RequestID: requests[1], Decision: event.Allow, Response: json.RawMessage(`{"selected_options":["a"]}`)}); err != nil {
			t.Fatal(err)
		}
		again := a.teller(echoes(2))
		opened(t, again, a.n.Session)
		pending, err := again.Pending(t.Context(), a.n.Session)
		if err != nil || len(pending) != 2 || pending[0].Request != requests[0] || pending[1].Request != requests[2] {
			t.Fatalf("pending is %v, %v, of %v", pending, err, requests)
		}
		for _, f := range pending {
			if first := lineAfter(all, f.Seq-1); !strings.HasPrefix(first, string(f.Bytes)) || !strings.Contains(string(f.Bytes), string(f.Request)) {
				t.Errorf("asked again with\n%s\nfirst with\n%s", f.Bytes, first)
			}
		}
		a.j.write(t, a.n.ID, wireFinished, json.RawMessage(`{}`))
		a.j.flush(t, a.record)
		if pending, err = again.Pending(t.Context(), a.n.Session); err != nil || len(pending) > 0 {
			t.Errorf("after the end %v is pending, %v", pending, err)
		}
	})
}

func TestARunIsToldAsCards(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.j.say(t, a.n.ID, "Hello")
		hub := a.teller(cardlog.Cards(card.English))
		opened(t, hub, a.n.Session)
		a.j.write(t, a.n.ID, wireFinished, json.RawMessage(`{}`))
		a.j.flush(t, a.record)
		trace := opened(t, a.teller(cardlog.Cards(card.English)), a.n.Session)
		ends := map[string]card.Type{}
		for i, line := range strings.Split(strings.TrimSuffix(whole(t, hub, trace.ID, 0, 100), "\n"), "\n") {
			var e card.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil || e.Envelope.Seq != card.Seq(i+1) || e.Envelope.SessionID != a.n.Session {
				t.Fatalf("frame %d is %s, %v", i+1, line, err)
			}
			ends[e.Envelope.CardID] = e.Type
		}
		delete(ends, "")
		for name, last := range ends {
			if last != card.Close {
				t.Errorf("the last word of %s is %s", name, last)
			}
		}
		if len(ends) < 2 {
			t.Errorf("told of %v", ends)
		}
	})
}
