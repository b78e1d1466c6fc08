package cli

import (
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
)

// The hub sends the questions that wait before the trace, and a feed tells nobody when their turn has come.
func TestATraceThatEndsWithQuestionsIsWholeWithTheEventBeforeThem(t *testing.T) {
	trace := &card.Trace{ID: "tr_0123456789abcdef01234567", Session: "sess_1"}
	b := trace.At(time.Now(), "run_1")
	ask := func(request string) card.Event {
		return b.PromptUser(card.PromptPayload{RequestID: request, Kind: "question", Inner: []byte(`{}`)})
	}
	events := []card.Event{
		b.Add(card.Ref{ID: "turn_1", Kind: card.Turn}, card.TurnPayload{}, nil), ask("req_1"), b.PromptReply(card.ReplyPayload{RequestID: "req_1"}),
		ask("req_2"), ask("req_3"),
	}
	resumed := card.Opening{Session: "sess_1", Trace: trace.ID}.Tell(time.Now(), card.Resumed, card.ResumedInner{FromSeq: 1, ToSeq: 5})
	head, forest := cardHead{early: map[card.Seq]bool{}}, client.NewCardForest()
	told := append([]card.Event{events[3], events[4], resumed}, events[:3]...)
	for i, e := range told {
		forest.Apply(e)
		if got, whole := head.reached(forest, &e), i == len(told)-1; got != whole {
			t.Errorf("after %d events: %v", i+1, got)
		}
	}
}

func TestATraceThatCannotBeHadIsWhole(t *testing.T) {
	failed := card.Opening{}.Tell(time.Now(), card.ResumeFailed, card.ResumeFailedInner{Reason: card.EventsExpired})
	head := cardHead{early: map[card.Seq]bool{}}
	if !head.reached(client.NewCardForest(), &failed) {
		t.Error("it is waited for")
	}
}
