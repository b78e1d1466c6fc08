package cards_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// fold projects facts in one go.
func fold(facts []cards.Fact) (*cards.State, []cards.Frame) {
	s := cards.New(trace, session, card.English)
	var out []cards.Frame
	for _, f := range facts {
		out = append(out, s.Apply(f)...)
	}
	return s, out
}

func lines(frames []cards.Frame) string {
	var out bytes.Buffer
	for _, f := range frames {
		out.Write(f.Bytes)
	}
	return out.String()
}

// differs is what a has from the first event on that is another one in b.
func differs(a, b []cards.Frame) string {
	for i := range a {
		if i >= len(b) || !bytes.Equal(a[i].Bytes, b[i].Bytes) {
			return lines(a[i:min(i+3, len(a))])
		}
	}
	return ""
}

func events(t *rapid.T, frames []cards.Frame) []card.Event {
	var out []card.Event
	for _, f := range frames {
		e, err := card.Decode(f.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func TestAFoldThatIsRestoredAnywhereGoesOnAsIfNothingHadHappened(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		facts := conversation(t)
		whole, want := fold(facts)
		s := cards.New(trace, session, card.English)
		var got []cards.Frame
		for _, f := range facts {
			if rapid.IntRange(0, 3).Draw(t, "restart") == 0 {
				restored, err := cards.Restore(s.Encode())
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(restored.Encode(), s.Encode()) {
					t.Fatal("what was restored encodes to something else")
				}
				s = restored
			}
			got = append(got, s.Apply(f)...)
			got = append(got, s.Apply(f)...) // a fact that comes again adds nothing
		}
		if lines(got) != lines(want) {
			t.Fatalf("restored:\n%s\nuninterrupted:\n%s", differs(got, want), differs(want, got))
		}
		if !bytes.Equal(s.Encode(), whole.Encode()) {
			t.Fatal("the states differ in the end")
		}
	})
}

func TestATraceIsNumberedWithoutHolesAndNamedByItsNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, frames := fold(conversation(t))
		for i, e := range events(t, frames) {
			want := card.Seq(i + 1)
			if e.Envelope.Seq != want || frames[i].Seq != want || e.Envelope.EventID != card.EventID(trace, want) {
				t.Fatalf("event %d: %s", want, frames[i].Bytes)
			}
			if asks := e.Type == card.PromptUser || frames[i].Card != ""; asks != (frames[i].Request != "") {
				t.Fatalf("event %d: request %q of %s", want, frames[i].Request, e.Type)
			}
		}
		if s.Seq() != card.Seq(len(frames)) {
			t.Fatalf("the state says %d of %d events", s.Seq(), len(frames))
		}
	})
}

func TestEveryCardIsClosedWhenItsRunHasEnded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, frames := fold(conversation(t))
		last, kinds := map[string]card.Type{}, map[string]card.Kind{}
		for i, e := range events(t, frames) {
			if !e.Type.OfCard() || e.Type == card.Tick {
				continue
			}
			_, known := kinds[e.Envelope.CardID]
			if (e.Type == card.Add) == known {
				t.Fatalf("event %d: %s of a card that is known: %v", i+1, frames[i].Bytes, known)
			}
			if parent := e.Envelope.ParentCardID; parent != "" && kinds[parent] == "" {
				t.Fatalf("event %d: no parent yet: %s", i+1, frames[i].Bytes)
			}
			last[e.Envelope.CardID], kinds[e.Envelope.CardID] = e.Type, e.Envelope.CardKind
		}
		for id, final := range last {
			if kinds[id] != card.System && final != card.Close {
				t.Fatalf("the last word about %s %s is %s", kinds[id], id, final)
			}
		}
		if size := len(s.Encode()); size > 4<<10 {
			t.Fatalf("%d bytes are remembered of runs that have all ended", size)
		}
	})
}

func TestEveryQuestionHasOneReply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, frames := fold(conversation(t))
		open := map[string]bool{}
		for _, e := range events(t, frames) {
			body, err := e.Body()
			if err != nil {
				t.Fatal(err)
			}
			switch p := body.(type) {
			case *card.PromptPayload:
				open[p.RequestID] = true
			case *card.ReplyPayload:
				if !open[p.RequestID] {
					t.Fatalf("a reply to %s, which nobody waits for", p.RequestID)
				}
				delete(open, p.RequestID)
			}
		}
		if len(open) > 0 {
			t.Fatalf("without reply: %v", open)
		}
	})
}

// TestAllThatHappensInASubAgentHasItsID holds the law of S0 §3.2 and §13.3.
func TestAllThatHappensInASubAgentHasItsID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := cards.New(trace, session, card.English)
		agents := map[string]string{card.MainAgent: ""} // by id: the name that facts have for it
		of := map[string]string{}                       // by card
		for _, f := range conversation(t) {
			for _, e := range events(t, s.Apply(f)) {
				v := e.Envelope
				if e.Type == card.Add {
					if v.CardKind == card.Agent {
						agents[v.CardID], _, _ = strings.Cut(v.CardID, "~")
						if v.AgentID != v.CardID {
							t.Fatalf("agent %s is told by %s", v.CardID, v.AgentID)
						}
					}
					of[v.CardID] = v.AgentID
				}
				if _, known := agents[v.AgentID]; !known {
					t.Fatalf("%s by %s, which has no card", e.Type, v.AgentID)
				}
				if v.CardID != "" && of[v.CardID] != v.AgentID {
					t.Fatalf("%s of %s by %s, not by %s", e.Type, v.CardID, v.AgentID, of[v.CardID])
				}
				if name := subAgent(f); name != "" && e.Type == card.Append && agents[v.AgentID] != name {
					t.Fatalf("what happened in %s is told by %s", name, v.AgentID)
				}
			}
		}
	})
}

func subAgent(f cards.Fact) string {
	var p struct {
		AgentID string `json:"agent_id"`
	}
	if json.Unmarshal(f.Payload, &p) != nil {
		return ""
	}
	return p.AgentID
}

var link = regexp.MustCompile(`\[(report\.md)\]\(artifact://art_1\)`)

// TestAppendsAddUpToTheStoredText holds what was streamed against the text of the log, but for links to artifacts. A message whose name the trace
// takes for known has a card of another name (card.IDs).
func TestAppendsAddUpToTheStoredText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		facts := conversation(t)
		_, frames := fold(facts)
		got := map[string]string{}
		for _, e := range events(t, frames) {
			if body, _ := e.Body(); e.Type == card.Append && e.Envelope.CardKind == card.Message {
				if p := body.(*card.AppendPayload); p.Channel == card.TextChannel {
					message, _, _ := strings.Cut(e.Envelope.CardID, "~")
					got[message] += p.Chunk
				}
			}
		}
		for _, f := range facts {
			var p event.MessageCompletedPayload
			if f.Event != event.MessageDone || f.Late {
				continue
			}
			if err := json.Unmarshal(f.Payload, &p); err != nil {
				t.Fatal(err)
			}
			if text := link.ReplaceAllString(got[string(p.MessageID)], "$1"); text != p.Content {
				t.Fatalf("%s: appended %q, stored %q", p.MessageID, got[string(p.MessageID)], p.Content)
			}
		}
	})
}

func TestARestoredStateIsRefusedWhenItIsNone(t *testing.T) {
	s := cards.New(trace, session, card.Chinese)
	s.Apply(cards.Fact{Place: 1, Run: cards.Run{ID: "run_0000000000000001"}, Event: event.RunStarted, Payload: json.RawMessage(`{}`)})
	whole := s.Encode()
	for i := range whole {
		if _, err := cards.Restore(whole[:i]); err == nil {
			t.Errorf("%d of %d bytes are a state", i, len(whole))
		}
	}
	if _, err := cards.Restore(append(whole, 0)); err == nil {
		t.Error("a state with something behind it is one")
	}
	if whole[0]++; true {
		if _, err := cards.Restore(whole); err == nil {
			t.Error("a state of another version is one")
		}
	}
}

// FuzzRestore feeds a state of any bytes.
func FuzzRestore(f *testing.F) {
	_, facts := 0, []cards.Fact{
		{Place: 1, Run: cards.Run{ID: "run_0000000000000001"}, Event: event.RunStarted, Payload: json.RawMessage(`{}`)},
		{Place: 2, Run: cards.Run{ID: "run_0000000000000001"}, Event: event.ToolStarted, Payload: json.RawMessage(`{"tool_call_id":"a","tool_name":"b"}`)},
	}
	s, _ := fold(facts)
	f.Add(s.Encode())
	f.Fuzz(func(_ *testing.T, data []byte) {
		s, err := cards.Restore(data)
		if err != nil {
			return
		}
		s.Apply(cards.Fact{Place: 1 << 40, Run: cards.Run{ID: "run_0000000000000001"}, Event: event.RunCompleted, Payload: json.RawMessage(`{}`)})
		s.Encode()
	})
}
