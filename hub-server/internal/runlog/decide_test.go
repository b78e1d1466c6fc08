package runlog

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// laneHolder is a connection of an edge: what it took the lane for when it looked last. Others may have taken it since, on any hub.
type laneHolder struct{ state LaneState }

// laneWorld is a lane in the store and everybody who ever held it.
type laneWorld struct {
	edge    id.Edge
	run     id.Run
	journal [][]byte
	chain   wire.Chain // of the journal
	now     LaneNow
	fence   Fence
	applied []wire.ProducerSeq // in the order of their commits
	holders []*laneHolder
}

// Connections come and go, and each sends what it likes by what it knows: old frames, overlapping ones, ones behind a hole, ones whose answer was
// lost. Every row is applied once and in order, and by nobody but the holder of the lane.
func TestWhoeverSendsWhatARowIsAppliedOnceByTheHolder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &laneWorld{edge: id.NewEdge(), run: id.NewRun()}
		w.take()
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				for range rapid.IntRange(1, 4).Draw(t, "rows") {
					row := testRow(t, uint64(len(w.journal))+1, w.run, "run.agent.text_delta", `{}`)
					w.journal = append(w.journal, row)
					w.chain = w.chain.Next(row)
				}
			},
			"take":               func(*rapid.T) { w.take() },
			"send":               func(t *rapid.T) { w.send(t, rapid.SampledFrom(w.holders).Draw(t, "holder")) },
			"send as the holder": func(t *rapid.T) { w.send(t, w.holders[len(w.holders)-1]) },
			"": func(t *rapid.T) {
				for i, seq := range w.applied {
					if seq != wire.ProducerSeq(i+1) {
						t.Fatalf("applied %v", w.applied)
					}
				}
				if w.now.Watermark != wire.ProducerSeq(len(w.applied)) {
					t.Fatalf("watermark %d after %d rows", w.now.Watermark, len(w.applied))
				}
			},
		})
		if int(w.now.Watermark) == len(w.journal) && w.now.Chain != w.chain {
			t.Fatal("the lane's chain is not the journal's")
		}
	})
}

// take is OpenLane.
func (w *laneWorld) take() {
	w.fence++
	w.holders = append(w.holders, &laneHolder{LaneState{Edge: w.edge, Watermark: w.now.Watermark, Chain: w.now.Chain, Fence: w.fence}})
}

func (w *laneWorld) send(t *rapid.T, h *laneHolder) {
	if len(w.journal) == 0 {
		return
	}
	first := rapid.IntRange(max(1, int(h.state.Watermark)-3), min(len(w.journal), int(h.state.Watermark)+3)).Draw(t, "first")
	last := rapid.IntRange(first, len(w.journal)).Draw(t, "last")
	f := PrepareFrame(w.edge, h.state, wire.Frame{First: wire.ProducerSeq(first), Rows: w.journal[first-1 : last]})
	if f.Fit != Next {
		return
	}
	now := w.now
	now.Held = h.state.Fence == w.fence
	res, ok := f.Meets(now)
	switch {
	case ok && !now.Held, !now.Held && !res.Fenced, res.Fenced && res.Rewind:
		t.Fatalf("holder %d of %d got %+v", h.state.Fence, w.fence, res)
	case !ok && (res.Watermark != w.now.Watermark || res.Chain != w.now.Chain):
		t.Fatalf("refused with %+v at %+v", res, w.now)
	}
	if ok {
		for _, row := range f.Rows {
			w.applied = append(w.applied, row.Seq)
		}
		w.now.Watermark, w.now.Chain = res.Watermark, res.Chain
	}
	if now.Held && rapid.Bool().Draw(t, "hears how it went") {
		h.state.Watermark, h.state.Chain = res.Watermark, res.Chain
	}
}

// A cancel meets each state of a run in one way: it is news, or it is not, or it stops what an interrupted run may still do; and a run that it ends
// in the hub has exactly one end.
func TestACancelMeetsARunInOneWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Head{
			Run: id.NewRun(), Edge: rapid.SampledFrom([]id.Edge{"", "edge_a", "edge_b"}).Draw(t, "edge"),
			State: rapid.SampledFrom([]run.State{
				run.StateWaitingEdge, run.StateDispatched, run.StateRunning, run.StateWaitingPerson, run.StateCancelling, run.StateCompleted,
				run.StateFailed, run.StateCancelled, run.StateInterrupted,
			}).Draw(t, "state"),
			Lease: wire.Lease(rapid.IntRange(0, 2).Draw(t, "lease")), Last: EventSeq(rapid.IntRange(0, 2).Draw(t, "last")),
			ProcessEnded: rapid.Bool().Draw(t, "process ended"),
		}
		c := Cancellation{
			Run: h.Run, Edge: "edge_a", Lease: 1, Last: 1,
			Asked:     entryOf(t, event.RunCancelling, event.RunCancellingPayload{}),
			Withdrawn: []Entry{entryOf(t, event.RunCancelled, event.RunCancelledPayload{ExternalStopConfirmed: true})},
		}
		aimed := h.Edge == c.Edge && h.Lease == c.Lease
		switch meets, anyway := c.Meets(h), c.Anyway(h); {
		case meets && anyway, !aimed && (meets || anyway):
			t.Fatalf("meets %t, anyway %t: %+v", meets, anyway, h)
		case h.State.Ended() && meets, h.State == run.StateCancelling && meets:
			t.Fatalf("news to a run that is %s", h.State)
		case aimed && h.State == run.StateInterrupted && !anyway:
			t.Fatal("the edge of an interrupted run is not told to stop")
		case !meets:
			return
		}
		unheard := c.Unheard(h) || rapid.Bool().Draw(t, "start withdrawn")
		g := c.Apply(h, unheard)
		ends := slices.IndexFunc(g.Events, func(e Placed) bool { return e.Type.Terminal() })
		if unheard != (g.State == run.StateCancelled) || !unheard && g.State != run.StateCancelling || (ends >= 0) != unheard {
			t.Fatalf("unheard %t: %s", unheard, g.State)
		}
	})
}
