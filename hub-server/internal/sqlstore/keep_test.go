package sqlstore

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// The statements keep the list of questions as the rule says that is written in Go, and that the simulator goes by.
func TestTheListOfQuestionsIsWhatTheRuleMakesOfTheLog(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		answered, expired, open := a.ask(event.Person, `{"n":1}`), a.inquire(event.PromptQuestion, anything, time.Minute), a.ask(event.Person, `{"n":3}`)
		a.ask(event.Policy, `{"n":4}`)
		a.must(answered, event.Allow)
		a.sweep(2 * time.Minute)
		for _, request := range []id.Request{answered, answered, expired} {
			a.j.write(t, a.n.ID, wireDelivered, event.PromptDeliveredPayload{RequestID: request, Decision: event.Allow})
		}
		a.j.flush(t, a.record)
		a.compare()
		a.ended(event.EndedUnseen, answered, open)
		a.compare()
		a.j.write(t, a.n.ID, event.Wire(event.RunInterrupted), json.RawMessage(`{"reason_code":"process_lost"}`))
		a.j.flush(t, a.record)
		a.compare()
		if got := a.states(); len(got) != 3 || got[0] != prompt.Answered || got[1] != prompt.Expired || got[2] != prompt.Cancelled {
			t.Errorf("questions are %v: the comparison compared nothing", got)
		}
	})
}

// compare replays the log by the rule, and compares the list with the store's.
func (a *asker) compare() {
	a.t.Helper()
	found := a.get(a.t, a.n.ID)
	head := runlog.Head{Run: found.ID, Session: found.Session, Agent: found.Agent, Edge: found.Edge, Lease: found.Lease, State: run.StateDispatched}
	var want []prompt.Prompt
	for _, e := range a.logOf(a.t, found.ID) {
		g := head.Grow()
		g.Append(a.entry(found, e))
		want = prompt.Keep(want, g, e.RecordedAt)
		head = g.Head
	}
	got := a.list()
	if len(got) != len(want) {
		a.t.Fatalf("the store has %d questions, the rule makes %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.ID != w.ID || g.State != w.State || g.Seq != w.Seq || g.Outlived != w.Outlived || g.ByHub != w.ByHub || string(g.Payload) != string(w.Payload) ||
			!g.AskedAt.Equal(w.AskedAt) || !g.ExpiresAt.Equal(w.ExpiresAt) || (g.Answer == nil) != (w.Answer == nil) {
			a.t.Errorf("the store has %+v, the rule makes %+v", g, w)
			continue
		}
		if g.Answer != nil && (g.Answer.Decision != w.Answer.Decision || g.Answer.User != w.Answer.User || !g.Answer.At.Equal(w.Answer.At) ||
			!g.Answer.DeliveredAt.Equal(w.Answer.DeliveredAt)) {
			a.t.Errorf("the store has the answer %+v, the rule makes %+v", *g.Answer, *w.Answer)
		}
	}
}

// entry makes an event of the log what it was before it was stored.
func (a *asker) entry(found runlog.Run, e runlog.StoredEvent) runlog.Entry {
	a.t.Helper()
	var reply runlog.Reply
	var err error
	switch {
	case e.ProducerSeq == 0 && e.Type == event.PromptAnswered:
		var p event.PromptAnsweredPayload
		if err = json.Unmarshal(e.Payload, &p); err == nil {
			reply, err = a.Runs.Reply(found, p, runlog.Asker{})
		}
	case e.ProducerSeq == 0:
		var p event.PromptExpiredPayload
		if err = json.Unmarshal(e.Payload, &p); err == nil {
			reply, err = a.Runs.Expire(found, p, runlog.Asker{})
		}
	default:
		var row []byte
		row, err = event.AppendRow(nil, event.Envelope{
			Version: event.Version, ID: e.ID, Seq: uint64(e.ProducerSeq), Type: e.WireType, Scope: event.Scope{RunID: found.ID}, SentAt: e.OccurredAt,
			Payload: e.Payload,
		})
		lane := runlog.LaneState{Watermark: e.ProducerSeq - 1}
		reply.Settled = runlog.PrepareFrame(found.Edge, lane, wire.Frame{First: e.ProducerSeq, Rows: [][]byte{row}}).Rows[0].Entry
	}
	if err != nil {
		a.t.Fatalf("read %s: %v", e.Type, err)
	}
	return reply.Settled
}
