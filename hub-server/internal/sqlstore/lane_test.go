package sqlstore

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestAConnectionThatLostTheFenceCommitsNothing(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		j.write(t, n.ID, wireStarted, json.RawMessage(`{}`))
		j.answer(t, r, wire.Accepted, "")
		stale := *j
		j.open(t, r)
		if res := stale.send(t, r, 1, 1); !res.Fenced {
			t.Errorf("the old connection got %+v, want Fenced", res)
		}
		other := newJournal(j.edge) // the edge lost its journal: another lane takes over
		other.open(t, r)
		if res := j.send(t, r, 1, 1); !res.Fenced {
			t.Errorf("the old lane got %+v, want Fenced", res)
		}
		if log := r.logOf(t, n.ID); len(typesOf(log)) != 1 || log[0].Type != event.RunInterrupted {
			t.Errorf("log is %v, want only the interruption of the run that the new journal does not hold", typesOf(log))
		}
	})
}

func TestAHelloThatCannotBeKeptIsRefused(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		good := newJournal(id.NewEdge()).hello
		for name, spoil := range map[string]func(*wire.Hello){
			"no incarnation": func(h *wire.Hello) { h.Incarnation = "" },
			"NUL":            func(h *wire.Hello) { h.BootNonce = "a\x00" },
			"floor":          func(h *wire.Hello) { h.Floor = 1 << 63 },
		} {
			bad := good
			spoil(&bad)
			if _, err := r.Lanes.Open(t.Context(), id.NewEdge(), bad); fault.CodeOf(err) != fault.FrameUnreadable {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}

func TestALaneGoesOnBehindRowsThatAreLost(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		j.write(t, n.ID, wireStarted, json.RawMessage(`{}`))
		j.flush(t, r)
		for range 5 {
			j.write(t, n.ID, wireDelta, json.RawMessage(`{"delta":"lost"}`))
		}
		j.hello.Floor, j.hello.FloorChain = 7, j.chain
		j.write(t, n.ID, wireDelta, json.RawMessage(`{"delta":"kept"}`))
		j.open(t, r)
		if j.lane.Watermark != 6 || j.lane.Chain != j.hello.FloorChain {
			t.Fatalf("lane is %+v, want watermark 6 with the edge's chain", j.lane)
		}
		if res := j.flush(t, r); res.Watermark != 7 || res.Chain != j.chain {
			t.Errorf("got %+v", res)
		}
		log := r.logOf(t, n.ID)
		if want := []event.Type{event.RunStarted, event.RunLogGap, event.MessageDelta}; !slices.Equal(typesOf(log), want) {
			t.Fatalf("log is %v, want %v", typesOf(log), want)
		}
		if got := string(log[1].Payload); got != `{"from_producer_seq":2,"to_producer_seq":6}` || log[1].TraceID != traceID {
			t.Errorf("gap is %s with trace %s", got, log[1].TraceID)
		}
	})
}

func TestAReceiptNewerThanTheStoreRemakesTheEpoch(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, _ := launched(t, r)
		before := r.store.Epoch()
		forged := wire.CommitReceipt{Incarnation: j.hello.Incarnation, Seq: 9, Epoch: before, Signature: "00"}
		j.hello.Committed = &forged
		j.open(t, r)
		if r.store.Epoch() != before {
			t.Error("a forged receipt changed the epoch")
		}
		signed := r.signer.Receipt(j.edge, forged)
		j.hello.Committed = &signed
		j.open(t, r)
		after := r.store.Epoch()
		if after == before || j.lane.Epoch != after {
			t.Errorf("epoch is %s, lane says %s, before it was %s", after, j.lane.Epoch, before)
		}
		j.open(t, r) // the same old receipt proves nothing about the new life
		if r.store.Epoch() != after {
			t.Error("the epoch was remade twice")
		}
	})
}
