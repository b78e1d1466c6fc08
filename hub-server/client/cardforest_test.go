package client

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/card"
)

const testTrace = "tr_0123456789abcdef01234567"

// someTrace draws the events of a trace in which cards open, grow and close below one another.
func someTrace(t *rapid.T) []card.Event {
	trace := &card.Trace{ID: testTrace, Session: "sess_1"}
	main := trace.At(time.Date(2026, 5, 7, 10, 0, 0, 0, time.UTC), "run_0123456789abcdef")
	var all []card.Event
	var asked []string
	cards := []card.Ref{{ID: "turn_1", Kind: card.Turn}}
	all = append(all, main.Add(cards[0], card.TurnPayload{TurnNo: 1}, nil))
	for range rapid.IntRange(0, 60).Draw(t, "events") {
		ref := rapid.SampledFrom(cards).Draw(t, "card")
		switch rapid.IntRange(0, 6).Draw(t, "what") {
		case 0:
			kind := rapid.SampledFrom(card.Kinds()).Draw(t, "kind")
			added := card.Ref{ID: main.NewID(kind, ""), Kind: kind, Parent: ref.ID}
			cards = append(cards, added)
			all = append(all, main.Add(added, struct{}{}, nil))
		case 1:
			all = append(all, main.Append(ref, card.TextChannel, rapid.IntRange(0, 2).Draw(t, "index"), rapid.StringN(1, 5, -1).Draw(t, "text")))
		case 2:
			all = append(all, main.Set(ref, card.ToolPayload{Name: rapid.StringN(0, 3, -1).Draw(t, "name")}))
		case 3:
			all = append(all, main.Tick(ref, card.Note, card.NoteTick{Text: "x"}))
		case 4:
			status := rapid.SampledFrom([]card.Status{card.OK, card.Failed, card.Skipped, card.Cancelled}).Draw(t, "status")
			all = append(all, main.Close(ref, card.End{Status: status}))
		case 5:
			asked = append(asked, fmt.Sprintf("req_%016x", len(asked)))
			all = append(all, main.PromptUser(card.PromptPayload{RequestID: asked[len(asked)-1], Kind: "question", Inner: json.RawMessage(`{}`)}))
		case 6:
			if len(asked) > 0 {
				all = append(all, main.PromptReply(card.ReplyPayload{RequestID: rapid.SampledFrom(asked).Draw(t, "request"), Decision: card.Approved}))
			}
		}
	}
	return all
}

// sent is an event as a client gets it.
func sent(t *rapid.T, e card.Event) card.Event {
	line, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := card.Decode(line)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func digestOf(t *rapid.T, f *CardForest) string {
	digest, err := f.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func TestHowOftenAForestIsCutOffDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trace := someTrace(t)
		whole, cut := NewCardForest(), NewCardForest()
		for _, e := range trace {
			if whole.Apply(sent(t, e)) == Missed {
				t.Fatalf("missed %d", e.Envelope.Seq)
			}
		}
		for int(cut.Last()) < len(trace) {
			for _, e := range trace { // the questions come first
				if e.Type == card.PromptUser && int(e.Envelope.Seq) <= len(trace) {
					cut.Apply(sent(t, e))
				}
			}
			from := rapid.IntRange(0, int(cut.Last())).Draw(t, "from")
			for _, e := range trace[from:] {
				if rapid.IntRange(0, 9).Draw(t, "cut") == 0 {
					break
				}
				cut.Apply(sent(t, e))
			}
		}
		if a, b := digestOf(t, whole), digestOf(t, cut); a != b {
			t.Fatalf("%s and %s", a, b)
		}
	})
}

func TestALostEventIsNoticedAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trace := someTrace(t)
		lost := rapid.IntRange(0, len(trace)-1).Draw(t, "lost")
		f := NewCardForest()
		for i, e := range trace {
			if i == lost {
				continue
			}
			got := f.Apply(sent(t, e))
			if i < lost && got == Missed || i > lost && got != Missed {
				t.Fatalf("event %d without %d is %s", i+1, lost+1, verdictNames[got])
			}
		}
		if f.Last() != card.Seq(lost) {
			t.Fatalf("last is %d without %d", f.Last(), lost+1)
		}
	})
}

// A resume that has failed has the next live event count as the first. That is for the trace which could not be resumed: another one begins at 1.
func TestAnotherTraceIsHeardFromItsBeginningThoughAResumeHasFailed(t *testing.T) {
	now := time.Date(2026, 5, 7, 10, 0, 0, 0, time.UTC)
	other := &card.Trace{ID: "tr_ffffffffffffffffffffffff", Session: "sess_1"}
	turn := card.Ref{ID: "turn_1", Kind: card.Turn}
	first := other.At(now, "run_0123456789abcdef").Add(turn, card.TurnPayload{TurnNo: 1}, nil)
	second := other.At(now, "run_0123456789abcdef").Set(turn, card.TurnPayload{TurnNo: 1})
	f := NewCardForest()
	f.Apply(card.Opening{Session: "sess_1", Trace: testTrace}.Tell(now, card.ResumeFailed, card.ResumeFailedInner{Reason: card.EventsExpired}))
	f.Apply(card.Opening{Session: "sess_1", Trace: other.ID}.Tell(now, card.Opened, card.OpenedInner{ProtocolVersion: card.ProtocolVersion}))
	for _, step := range []struct {
		event card.Event
		want  Verdict
	}{{second, Missed}, {first, Applied}, {second, Applied}} {
		if got := f.Apply(step.event); got != step.want {
			t.Errorf("event %d is %s, want %s", step.event.Envelope.Seq, verdictNames[got], verdictNames[step.want])
		}
	}
}

func FuzzForestApply(f *testing.F) {
	f.Add(
		[]byte(`{"type":"card.add","envelope":{"card_id":"x","card_kind":"tool","seq":1},"payload":{}}`),
		[]byte(`{"type":"card.close","envelope":{"card_id":"x","seq":2},"payload":{"status":"ok"}}`),
	)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		forest := NewCardForest()
		for _, line := range [][]byte{first, second} {
			if e, err := card.Decode(line); err == nil {
				forest.Apply(e)
			}
		}
		forest.Roots()
		if _, err := forest.Digest(); err != nil {
			t.Skip(err) // raw values that have no canonical form
		}
	})
}

func TestACardKnowsSinceWhenItIsThereAndHowSevere(t *testing.T) {
	trace := &card.Trace{ID: testTrace, Session: "sess_1"}
	began, ref := time.Date(2026, 5, 7, 10, 0, 0, 0, time.UTC), card.Ref{ID: "card_1", Kind: card.System}
	add := trace.At(began, "run_1").Add(ref, card.SystemPayload{}, nil)
	add.Envelope.Severity = card.Warn
	f := NewCardForest()
	f.Apply(add)
	f.Apply(trace.At(began.Add(time.Hour), "run_1").Set(ref, card.SystemPayload{Summary: "x"}))
	if c := f.Card("card_1"); !c.OpenedAt.Equal(began) || !c.UpdatedAt.Equal(began.Add(time.Hour)) || c.Severity != card.Warn {
		t.Errorf("%+v", c)
	}
}
