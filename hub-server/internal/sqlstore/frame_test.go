package sqlstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

func TestACompletedRunIsCommittedWholeAndItsTextPosted(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		j.write(t, n.ID, wireStarted, json.RawMessage(`{"started_at":"2026-01-02T03:04:05Z"}`))
		msg := j.say(t, n.ID, "All <quiet> \u2028 here.")
		j.write(t, n.ID, wireFinished, event.RunCompletedPayload{MessageID: msg})
		res := j.flush(t, r)

		if res.Watermark != 5 || res.Chain != j.chain || res.Events != 5 || len(res.Refused) != 0 {
			t.Errorf("got %+v, want five events and the journal's chain", res)
		}
		if !r.signer.CheckReceipt(j.edge, res.Receipt) || res.Receipt.Seq != 5 {
			t.Errorf("receipt %+v is not signed for the edge", res.Receipt)
		}
		want := []event.Type{event.RunStarted, event.MessageStarted, event.MessageDelta, event.MessageDone, event.RunCompleted}
		log := r.logOf(t, n.ID)
		if got := typesOf(log); !slices.Equal(got, want) {
			t.Errorf("log is %v, want %v", got, want)
		}
		if err := sameAsRows(log, j.rows); err != nil {
			t.Error(err)
		}
		found := r.get(t, n.ID)
		if found.State != run.StateCompleted || found.FinalMessage != msg || found.StartedAt.IsZero() || found.EndedAt.IsZero() {
			t.Errorf("run is %+v", found)
		}
		if got := r.messagesOf(t, n.Session); !slices.Equal(got, []string{"All <quiet> \u2028 here."}) {
			t.Errorf("messages are %q", got)
		}
		checkOutbox(t, r, n)
	})
}

// sameAsRows compares the payloads of a log with those of the journal, byte for byte.
func sameAsRows(log []runlog.StoredEvent, rows [][]byte) error {
	for i, e := range log {
		if e.Seq != runlog.EventSeq(i+1) {
			return fmt.Errorf("event %d has number %d", i+1, e.Seq)
		}
		if !bytes.HasSuffix(rows[e.ProducerSeq-1], append(append([]byte(`"payload":`), e.Payload...), '}')) {
			return fmt.Errorf("payload of event %d is %s, the journal has %s", e.Seq, e.Payload, rows[e.ProducerSeq-1])
		}
		if sum, err := event.Checksum(e.Payload); err != nil || sum != e.Checksum || e.TraceID != traceID {
			return fmt.Errorf("event %d: checksum %s, trace %s", e.Seq, e.Checksum, e.TraceID)
		}
		if e.SpanID != event.SpanOf(e.Run, e.Type, e.Payload) {
			return fmt.Errorf("event %d: span %q", e.Seq, e.SpanID)
		}
	}
	return nil
}

func checkOutbox(t *testing.T, r *record, n runlog.NewRun) {
	t.Helper()
	rows, err := r.store.Rows(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []delivery.Kind
	for _, row := range rows {
		kinds = append(kinds, row.Kind)
		if row.Audience != delivery.ToSession(n.Session) {
			t.Errorf("row %d is addressed to %s", row.Position, row.Audience)
		}
		if row.Kind == delivery.KindRun && (row.Run != n.ID || row.From != 1 || row.To != 5 || row.Bytes == 0) {
			t.Errorf("run row is %+v, want events 1..5", row)
		}
	}
	if want := []delivery.Kind{delivery.KindFrame, delivery.KindRun, delivery.KindMessage}; !slices.Equal(kinds, want) {
		t.Errorf("outbox has %v, want %v", kinds, want)
	}
}

func TestARepeatedFrameIsAcknowledgedAgainAndAppliedOnce(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		j.write(t, n.ID, wireStarted, json.RawMessage(`{}`))
		for range 9 {
			j.write(t, n.ID, wireDelta, json.RawMessage(`{"delta":"x"}`))
		}
		j.send(t, r, 1, 4)
		before := j.lane
		if res := j.send(t, r, 1, 3); res.Watermark != 4 || res.Chain != before.Chain || res.Rewind {
			t.Errorf("duplicate: got %+v", res)
		}
		if res := j.send(t, r, 7, 9); !res.Rewind || res.Watermark != 4 {
			t.Errorf("ahead: got %+v, want a rewind", res)
		}
		if res := j.send(t, r, 2, 10); res.Watermark != 10 || res.Events != 6 || res.Chain != j.chain {
			t.Errorf("overlap: got %+v, want the six new events", res)
		}
		// The answer of the first commit was lost and the connection still has the old state.
		j.lane = before
		if res := j.send(t, r, 5, 10); res.Rewind || res.Watermark != 10 || res.Chain != j.chain || res.Events != 0 {
			t.Errorf("repeat with an old state: got %+v, want the receipt again", res)
		}
		if err := sameAsRows(r.logOf(t, n.ID), j.rows); err != nil {
			t.Error(err)
		}
	})
}

func TestRowsThatCannotBeAppliedGoToQuarantine(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, mine := launched(t, r)
		otherEdge := newJournal(r.fleet.add(true))
		r.fleet.set(j.edge, false)
		foreign := r.start(t, mine.Session)
		r.fleet.set(j.edge, true)
		otherEdge.open(t, r)

		j.write(t, mine.ID, wireStarted, json.RawMessage(`{}`))
		j.write(t, foreign.ID, wireDelta, json.RawMessage(`{"delta":"spoof"}`))
		j.write(t, id.NewRun(), wireDelta, json.RawMessage(`{}`))
		j.raw([]byte("not json \xff"))
		j.raw([]byte(`{"type":"run.agent.text_delta","scope":{"runId":"` + string(mine.ID) + `"},"seq":5}`))
		j.write(t, mine.ID, "run.cancelling", json.RawMessage(`{}`))
		j.write(t, mine.ID, wireDelta, json.RawMessage(`{"delta":"still here"}`))
		res := j.flush(t, r)

		codes := []fault.Code{fault.RowForeignRun, fault.RowUnknownRun, fault.RowUnreadable, fault.RowUnreadable, fault.RowNotAppendable}
		if res.Watermark != 7 || !slices.Equal(res.Refused, codes) {
			t.Errorf("got %+v, want watermark 7 and %v", res, codes)
		}
		want := []event.Type{event.RunStarted, event.RunRowRefused, event.RunRowRefused, event.MessageDelta}
		log := r.logOf(t, mine.ID)
		if !slices.Equal(typesOf(log), want) {
			t.Errorf("log is %v, want %v", typesOf(log), want)
		}
		if got := string(log[2].Payload); got != `{"producer_seq":6,"code":"row_not_appendable"}` {
			t.Errorf("refusal says %s", got)
		}
		if got := r.logOf(t, foreign.ID); len(got) != 0 {
			t.Errorf("the foreign run's log got %v", typesOf(got))
		}
		for seq := 2; seq <= 6; seq++ {
			if got := r.quarantined(t, seq); !bytes.Equal(got, j.rows[seq-1]) {
				t.Errorf("row %d lies in quarantine as %q", seq, got)
			}
		}
	})
}

func (r *record) quarantined(tb testing.TB, seq int) (raw []byte) {
	tb.Helper()
	err := r.store.readDB.QueryRowContext(tb.Context(), `SELECT row_bytes FROM quarantine WHERE producer_seq = $1`, seq).Scan(&raw)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func TestARefusedOutcomeFailsTheRunAfterItsClosings(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		msg := id.NewMessage()
		j.write(t, n.ID, wireStarted, json.RawMessage(`{}`))
		j.write(t, n.ID, wireBegun, event.MessageStartedPayload{MessageID: msg, Role: "assistant"})
		j.write(t, n.ID, wireDelta, event.DeltaPayload{MessageID: msg, Delta: "half "})
		j.flush(t, r)
		j.write(t, n.ID, wireToolCall, event.ToolStartedPayload{ToolCallID: "call_1", ToolName: "read", Arguments: json.RawMessage(`{}`)})
		j.write(t, n.ID, wireDelta, event.DeltaPayload{MessageID: msg, Delta: "a sentence"})
		j.raw([]byte(`{"version":"v9","type":"run.finished","scope":{"runId":"` + string(n.ID) + `"}}`))
		j.flush(t, r)

		want := []event.Type{
			event.RunStarted, event.MessageStarted, event.MessageDelta, event.ToolStarted, event.MessageDelta,
			event.RunRowRefused, event.MessageDone, event.ToolFailed, event.RunFailed,
		}
		log := r.logOf(t, n.ID)
		if !slices.Equal(typesOf(log), want) {
			t.Fatalf("log is %v, want %v", typesOf(log), want)
		}
		var closing event.MessageCompletedPayload
		if err := json.Unmarshal(log[6].Payload, &closing); err != nil || closing.Content != "half a sentence" {
			t.Errorf("closing is %s", log[6].Payload)
		}
		found := r.get(t, n.ID)
		if found.State != run.StateFailed || found.Error == nil || found.Error.Code != fault.RowUnreadable {
			t.Errorf("run is %s with %+v", found.State, found.Error)
		}
	})
}

// A sub-agent speaks to the agent: what it says, even last, is in the log and is no message.
func TestWhatASubAgentSaysIsNotPosted(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		inner := id.NewMessage()
		j.write(t, n.ID, wireStarted, json.RawMessage(`{}`))
		answer := j.say(t, n.ID, "the answer")
		j.write(t, n.ID, wireBegun, event.MessageStartedPayload{MessageID: inner, Role: "assistant", AgentID: "sub_a"})
		j.write(t, n.ID, wireSaid, event.MessageCompletedPayload{
			MessageID: inner, Content: "inside", ContentChecksum: event.TextChecksum("inside"), AgentID: "sub_a",
		})
		j.write(t, n.ID, wireFinished, event.RunCompletedPayload{MessageID: answer})
		j.flush(t, r)

		if found := r.get(t, n.ID); found.FinalMessage != answer {
			t.Errorf("the answer is %s, want %s", found.FinalMessage, answer)
		}
		if got := r.messagesOf(t, n.Session); !slices.Equal(got, []string{"the answer"}) {
			t.Errorf("messages are %q", got)
		}
	})
}

func TestTheClosingOfALongMessageIsABlob(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		msg := id.NewMessage()
		for range 10 {
			j.write(t, n.ID, wireDelta, event.DeltaPayload{MessageID: msg, Delta: strings.Repeat("long ", 2000)})
		}
		j.raw([]byte(`{"version":"v9","type":"run.failed","scope":{"runId":"` + string(n.ID) + `"}}`))
		j.flush(t, r)
		log := r.logOf(t, n.ID)
		var closing event.MessageCompletedPayload
		if len(log) != 13 || json.Unmarshal(log[11].Payload, &closing) != nil || closing.ContentBlob == nil || closing.Content != "" {
			t.Fatalf("log is %v, closing is %.200s", typesOf(log), log[min(11, len(log)-1)].Payload)
		}
		text := r.readBlob(t, runlog.BlobHash(closing.ContentBlob.SHA256))
		if string(text) != strings.Repeat("long ", 20_000) || closing.ContentChecksum != event.TextChecksum(string(text)) {
			t.Errorf("the blob has %d bytes", len(text))
		}
	})
}

func TestWhatComesAfterTheOutcomeIsLateAndAFinalTextIsPostedOnce(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		j.write(t, n.ID, wireStarted, json.RawMessage(`{}`))
		j.write(t, n.ID, "run.interrupted", event.RunInterruptedPayload{ReasonCode: fault.EdgeAbsent})
		msg := j.say(t, n.ID, "I was here all along")
		j.write(t, n.ID, wireFinished, event.RunCompletedPayload{MessageID: msg})
		j.write(t, n.ID, wireFinished, event.RunCompletedPayload{MessageID: msg})
		j.flush(t, r)

		log := r.logOf(t, n.ID)
		want := []event.Type{
			event.RunStarted, event.RunInterrupted, event.MessageStarted, event.MessageDelta, event.MessageDone,
			event.RunLateOutcome, event.RunLateOutcome,
		}
		if !slices.Equal(typesOf(log), want) {
			t.Fatalf("log is %v, want %v", typesOf(log), want)
		}
		for _, e := range log {
			if e.Late != (e.Seq > 2) {
				t.Errorf("event %d is late: %t", e.Seq, e.Late)
			}
		}
		if got := string(log[5].Payload); got != `{"type":"run.completed","payload":{"message_id":"`+string(msg)+`"}}` {
			t.Errorf("late outcome is %s", got)
		}
		if found := r.get(t, n.ID); found.State != run.StateInterrupted || found.FinalMessage != msg {
			t.Errorf("run is %s with final message %q", found.State, found.FinalMessage)
		}
		if got := r.messagesOf(t, n.Session); !slices.Equal(got, []string{"I was here all along"}) {
			t.Errorf("messages are %q, want the final text once", got)
		}
	})
}

func TestAnUnknownTypeIsStoredOpaque(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		odd := json.RawMessage(`{"b":1.0,"a":1e400,"s":"\u0000<","deep":[[{}]]}`)
		j.write(t, n.ID, "vendor.future-thing", odd)
		j.flush(t, r)
		log := r.logOf(t, n.ID)
		if len(log) != 1 || log[0].Type != "vendor.future-thing" || log[0].WireType != "vendor.future-thing" || string(log[0].Payload) != string(odd) {
			t.Errorf("log is %+v", log)
		}
		if found := r.get(t, n.ID); found.State != run.StateDispatched {
			t.Errorf("state moved to %s", found.State)
		}
	})
}

func TestTextThatOnlyOneStoreWouldTakeStopsNoLane(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		msg := j.say(t, n.ID, "a NUL \x00 in the text")
		j.write(t, n.ID, wireArtifact, event.ArtifactCreatedPayload{
			ArtifactID: id.NewArtifact(), Filename: "a\x00b", ContentType: "text/plain", Checksum: string(r.put(t, j.edge, nil)),
		})
		j.write(t, n.ID, wireFailed, json.RawMessage(`{"error":{"code":"\u0000","message":"because \u0000 \ud800"}}`))
		j.write(t, n.ID, wireFinished, event.RunCompletedPayload{MessageID: msg})
		if res := j.flush(t, r); res.Watermark != 6 || len(res.Refused) != 0 {
			t.Fatalf("got %+v", res)
		}
		if err := sameAsRows(r.logOf(t, n.ID)[:5], j.rows); err != nil {
			t.Error(err)
		}
		if got := r.messagesOf(t, n.Session); !slices.Equal(got, []string{"a NUL \uFFFD in the text"}) {
			t.Errorf("messages are %q", got)
		}
		if found := r.get(t, n.ID); found.Error == nil || found.Error.Message != "because \uFFFD \uFFFD" {
			t.Errorf("error is %+v", found.Error)
		}
	})
}
