package client

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestABoundedReducerTellsWhatAnUnboundedOneTells plays random histories in which hubs repeat what is recent. Verdicts, digests, marks, outcomes and open
// questions are the same; of the records the newest are left.
func TestABoundedReducerTellsWhatAnUnboundedOneTells(t *testing.T) {
	const messages, runs, recent = 12, 8, 6
	for seed := range uint64(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			past := &history{rand: rand.New(rand.NewPCG(seed, 2)), heads: map[SessionID]SeqID{}, events: map[RunID]int64{}}
			bounded, whole := NewReducer(), NewReducer()
			bounded.Keep(Limits{Messages: messages, Runs: runs})
			whole.Keep(Limits{Messages: -1, Runs: -1})
			var told []HubWebSocketFrame
			apply := func(f HubWebSocketFrame) {
				if got, want := bounded.Apply(f), whole.Apply(f); got != want {
					t.Fatalf("%s %s: verdict %d, want %d", f.Type, f.Payload, got, want)
				}
			}
			for range 400 {
				told = append(told, past.next())
				apply(told[len(told)-1])
				if past.rand.IntN(5) == 0 {
					for _, f := range told[max(0, len(told)-1-past.rand.IntN(recent)):] {
						apply(f)
					}
				}
			}
			if bounded.Digest() != whole.Digest() || bounded.Len() != whole.Len() || !maps.Equal(bounded.Marks(), whole.Marks()) {
				t.Error("the digest, the count or the marks differ")
			}
			for _, run := range past.runs {
				if bounded.Outcome(run) != whole.Outcome(run) || bounded.RunDigest(run) != whole.RunDigest(run) {
					t.Errorf("%s: outcome %q, want %q", run, bounded.Outcome(run), whole.Outcome(run))
				}
			}
			if got, want := ids(bounded.Questions()), ids(whole.Questions()); !slices.Equal(got, want) {
				t.Errorf("open questions %q, want %q", got, want)
			}
			for session := range past.heads {
				all := whole.Bubbles(session)
				want := all[max(0, len(all)-messages):]
				if got := bounded.Bubbles(session); !slices.EqualFunc(got, want, func(a, b Bubble) bool { return a.MessageID == b.MessageID && a.Recalled == b.Recalled }) {
					t.Errorf("%d bubbles of %s, want the newest %d", len(got), session, len(want))
				}
			}
			for key, payload := range bounded.Records() {
				if string(whole.Records()[key]) != string(payload) {
					t.Errorf("%s is %s, want %s", key, payload, whole.Records()[key])
				}
			}
			perMessage, perRun := 3, 4 // records: a message, its recall, a reaction; a run, its order, its end, its question
			open := len(whole.Questions()) + len(past.open)
			if got, most := len(bounded.Records()), len(past.heads)*messages*perMessage+(runs+len(past.open))*perRun+open+len(past.runs)/100; got > most {
				t.Errorf("%d records of %d are left, want at most %d", got, len(whole.Records()), most)
			}
		})
	}
}

func ids(prompts []Prompt) (all []RequestID) {
	for _, p := range prompts {
		all = append(all, p.RequestID)
	}
	slices.Sort(all)
	return all
}

// history makes frames: messages and what happens to recent ones, runs with questions.
type history struct {
	rand   *rand.Rand
	heads  map[SessionID]SeqID
	runs   []RunID
	open   []RunID // not ended
	events map[RunID]int64
	asked  []RunID // whose question is open
	count  int
}

func (h *history) next() HubWebSocketFrame {
	h.count++
	session := fmt.Sprintf("sess_%d", h.rand.IntN(2))
	head := h.heads[session]
	message := fmt.Sprintf("msg_%s_%d", session, max(1, head-h.rand.Int64N(5)))
	switch n := h.rand.IntN(10); {
	case n < 3 || head == 0:
		h.heads[session]++
		return frameOf(HubWebSocketFrameTypeMessageNew, h.message(session, h.heads[session], ""))
	case n == 3:
		seq := max(1, head-h.rand.Int64N(5))
		return frameOf(HubWebSocketFrameTypeMessageNew, h.message(session, seq, fmt.Sprintf(`,"edited_at":"2026-01-01T00:00:00Z","revision":%d`, h.count)))
	case n == 4:
		return frameOf(HubWebSocketFrameTypeMessageRecall, fmt.Sprintf(`{"message_id":%q,"session_id":%q}`, message, session))
	case n == 5:
		typ := []HubWebSocketFrameType{HubWebSocketFrameTypeMessageReactionAdded, HubWebSocketFrameTypeMessageReactionRemoved}[h.rand.IntN(2)]
		return frameOf(typ, fmt.Sprintf(`{"message_id":%q,"session_id":%q,"user_id":"u","reaction":"+1"}`, message, session))
	case n == 6 || len(h.open) == 0:
		run := fmt.Sprintf("run_%d", len(h.runs))
		h.runs, h.open = append(h.runs, run), append(h.open, run)
		return frameOf(HubWebSocketFrameTypeAgentDispatch, fmt.Sprintf(`{"task_id":%q,"session_id":%q,"prompt":"go"}`, run, session))
	}
	return h.ofRun()
}

func (h *history) message(session SessionID, seq SeqID, more string) string {
	return fmt.Sprintf(`{"id":"msg_%s_%d","session_id":%q,"seq_id":%d,"content":{"text":"x"}%s}`, session, seq, session, seq, more)
}

// ofRun makes a frame of one that is under way: an event, a question, its answer, the end. The question of one that ends may stay open.
func (h *history) ofRun() HubWebSocketFrame {
	at := h.rand.IntN(len(h.open))
	run := h.open[at]
	question := func(read bool) HubWebSocketFrame {
		return frameOf(HubWebSocketFrameTypeNotificationNew,
			fmt.Sprintf(`{"id":"req_%s","type":"prompt","read":%v,"payload":{"request_id":"req_%s","task_id":%q}}`, run, read, run, run))
	}
	switch asked := slices.Contains(h.asked, run); {
	case h.rand.IntN(3) == 0:
		h.open = slices.Delete(h.open, at, at+1)
		typ := []HubWebSocketFrameType{HubWebSocketFrameTypeAgentDone, HubWebSocketFrameTypeAgentFailed, HubWebSocketFrameTypeAgentCancel}[h.rand.IntN(3)]
		return frameOf(typ, fmt.Sprintf(`{"task_id":%q}`, run))
	case asked:
		h.asked = slices.DeleteFunc(h.asked, func(id RunID) bool { return id == run })
		return question(true)
	case h.rand.IntN(2) == 0:
		h.asked = append(h.asked, run)
		return question(false)
	}
	h.events[run]++
	return streamFrame(run, h.events[run], "run.agent.text_delta", `{"delta":"x"}`)
}

// What is told of a forgotten message is told each time, and not kept; the message itself is not told again.
func TestWhatIsToldOfAForgottenMessageIsNotKept(t *testing.T) {
	r := NewReducer()
	r.Keep(Limits{Messages: 1})
	h := &history{}
	for seq := range SeqID(3) {
		r.Apply(frameOf(HubWebSocketFrameTypeMessageNew, h.message("sess_1", seq+1, "")))
	}
	before := slices.Sorted(maps.Keys(r.Records()))
	if want := "message msg_sess_1_3"; strings.Join(before, " ") != want {
		t.Fatalf("kept %q, want %q", before, want)
	}
	for _, c := range []struct {
		typ     HubWebSocketFrameType
		payload string
		want    Verdict
	}{
		{HubWebSocketFrameTypeMessageNew, h.message("sess_1", 1, ""), Repeated},
		{HubWebSocketFrameTypeMessageNew, h.message("sess_1", 1, `,"edited_at":null`), Repeated},
		{HubWebSocketFrameTypeMessageNew, h.message("sess_1", 2, `,"edited_at":"2026-01-01T00:00:00Z"`), Applied},
		{HubWebSocketFrameTypeMessageRecall, `{"message_id":"msg_sess_1_1","session_id":"sess_1"}`, Applied},
		{HubWebSocketFrameTypeMessageReactionAdded, `{"message_id":"msg_sess_1_1","session_id":"sess_1","user_id":"u","reaction":"+1"}`, Applied},
	} {
		if got := r.Apply(frameOf(c.typ, c.payload)); got != c.want {
			t.Errorf("%s %s: verdict %d, want %d", c.typ, c.payload, got, c.want)
		}
	}
	if after := slices.Sorted(maps.Keys(r.Records())); !slices.Equal(after, before) {
		t.Errorf("kept %q, want %q", after, before)
	}
}

func TestLimitsThatComeLaterForgetAtOnceAndNoneKeepsTheDefault(t *testing.T) {
	r, h := NewReducer(), &history{}
	for seq := range SeqID(keptByDefault + 10) {
		r.Apply(frameOf(HubWebSocketFrameTypeMessageNew, h.message("sess_1", seq+1, "")))
	}
	for _, c := range []struct{ limit, want int }{{0, keptByDefault}, {100, 100}, {-1, 100}, {0, 100}} {
		r.Keep(Limits{Messages: c.limit})
		if got := len(r.Bubbles("sess_1")); got != c.want {
			t.Errorf("with %d, %d are kept, want %d", c.limit, got, c.want)
		}
	}
}
