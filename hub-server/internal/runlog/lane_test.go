package runlog

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"pgregory.net/rapid"
)

// testRow is a journal row of a run.
func testRow(t rapid.TB, seq uint64, runID id.Run, typ event.WireType, payload string) []byte {
	row, err := event.AppendRow(nil, event.Envelope{
		Version: event.Version, ID: id.NewEvent(), Seq: seq, Type: typ, Scope: event.Scope{RunID: runID},
		SentAt: time.Unix(1, 0), Payload: json.RawMessage(payload),
	})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// However frames are cut, repeated, reordered and dropped: the lane takes every row once, in order, and its chain is the journal's.
func TestALaneTakesEveryRowOnceWhateverIsSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		edge, runID := id.NewEdge(), id.NewRun()
		rows := make([][]byte, rapid.IntRange(1, 40).Draw(t, "rows"))
		var chain wire.Chain
		for i := range rows {
			rows[i] = testRow(t, uint64(i)+1, runID, "run.agent.text_delta", `{}`)
			chain = chain.Next(rows[i])
		}
		var lane LaneState
		next := 1
		for int(lane.Watermark) < len(rows) {
			first := rapid.IntRange(1, min(next+3, len(rows))).Draw(t, "first")
			last := rapid.IntRange(first, len(rows)).Draw(t, "last")
			if rapid.Bool().Draw(t, "rewound") {
				first, last = next, max(next, last)
			}
			f := PrepareFrame(edge, lane, wire.Frame{First: wire.ProducerSeq(first), Rows: rows[first-1 : last]})
			switch {
			case first > next:
				if f.Fit != Ahead {
					t.Fatalf("rows %d.. at watermark %d: %d, want Ahead", first, next-1, f.Fit)
				}
				continue
			case last < next:
				if f.Fit != Duplicate || len(f.Rows) != 0 {
					t.Fatalf("rows ..%d at watermark %d: %d, want Duplicate", last, next-1, f.Fit)
				}
				continue
			}
			if f.Fit != Next || len(f.Rows) != last-next+1 {
				t.Fatalf("rows %d..%d at watermark %d: %d rows taken", first, last, next-1, len(f.Rows))
			}
			for i, row := range f.Rows {
				if int(row.Seq) != next+i || row.Refused != "" || row.Entry.ProducerSeq != row.Seq {
					t.Fatalf("row %d is %+v", next+i, row)
				}
			}
			lane.Watermark, lane.Chain = f.Last(), f.Chain
			next = last + 1
		}
		if lane.Chain != chain {
			t.Fatal("the lane's chain is not the journal's")
		}
	})
}

// A run's log is dense and has one outcome, whatever comes and in whatever order; nothing that came is left out.
func TestALogIsDenseAndHasOneOutcome(t *testing.T) {
	types := []event.WireType{
		"run.started", "run.finished", "run.failed", "run.cancelled", "run.interrupted", "run.agent.text_delta", "vendor.new", "run.cancelling",
	}
	rapid.Check(t, func(t *rapid.T) {
		edge, mine, foreign := id.NewEdge(), id.NewRun(), id.NewRun()
		heads := map[id.Run]Head{
			mine:    {Run: mine, Edge: edge, State: run.StateDispatched, TraceID: "0123456789abcdef0123456789abcdef"},
			foreign: {Run: foreign, Edge: id.NewEdge(), State: run.StateRunning},
		}
		lane := LaneState{}
		outcomes, ended := 0, false
		for range rapid.IntRange(1, 5).Draw(t, "frames") {
			var rows [][]byte
			for range rapid.IntRange(1, 12).Draw(t, "rows") {
				runID := rapid.SampledFrom([]id.Run{mine, mine, mine, foreign}).Draw(t, "run")
				typ := rapid.SampledFrom(types).Draw(t, "type")
				rows = append(rows, testRow(t, uint64(lane.Watermark)+uint64(len(rows))+1, runID, typ, `{"reason_code":"x"}`))
			}
			f := PrepareFrame(edge, lane, wire.Frame{First: lane.Watermark + 1, Rows: rows})
			grown, refused := f.Apply(heads)
			appended := 0
			for _, g := range grown {
				if g.Run != mine || g.From != heads[mine].Last+1 {
					t.Fatalf("grown is %+v", g)
				}
				for i, e := range g.Events {
					if e.Seq != g.From+EventSeq(i) || e.TraceID == "" {
						t.Fatalf("event %d of a log that ends at %d has number %d", i, heads[mine].Last, e.Seq)
					}
					if e.Late != ended {
						t.Fatalf("event %d %s is late: %t", e.Seq, e.Type, e.Late)
					}
					if e.Type.Terminal() {
						outcomes, ended = outcomes+1, true
					}
				}
				appended += len(g.Events)
				heads[mine] = g.Head
			}
			mustRefuse := 0
			for _, row := range f.Rows {
				if row.Run == foreign || row.Refused != "" {
					mustRefuse++
				}
			}
			if len(refused) != mustRefuse || appended != len(rows)-foreignRows(f, foreign) {
				t.Fatalf("%d rows: %d refused, %d appended", len(rows), len(refused), appended)
			}
			lane.Watermark, lane.Chain = f.Last(), f.Chain
		}
		if outcomes > 1 || heads[mine].State.Ended() != ended {
			t.Fatalf("%d outcomes, state %s", outcomes, heads[mine].State)
		}
	})
}

func foreignRows(f LaneFrame, foreign id.Run) (n int) {
	for _, row := range f.Rows {
		if row.Run == foreign {
			n++
		}
	}
	return n
}

func TestARowThatIsNotTheOneItsPlaceSaysIsRefused(t *testing.T) {
	runID := id.NewRun()
	f := PrepareFrame(id.NewEdge(), LaneState{}, wire.Frame{First: 1, Rows: [][]byte{testRow(t, 2, runID, "run.started", `{}`)}})
	if row := f.Rows[0]; row.Refused != fault.RowUnreadable || row.Run != runID || row.Ends {
		t.Errorf("got %+v", row)
	}
}

func FuzzPrepareFrame(f *testing.F) {
	edge, runID := id.NewEdge(), id.Run("run_0123456789abcdef")
	good := testRow(f, 1, runID, "run.started", `{"started_at":"2026-01-02T03:04:05Z"}`)
	f.Add(wire.Frame{Generation: 1, First: 1, Rows: [][]byte{good}}.Append(nil), uint64(0))
	f.Add(wire.Frame{Generation: 1, First: 1, Rows: [][]byte{good, []byte("junk"), nil}}.Append(nil), uint64(0))
	f.Add(wire.Frame{Generation: 9, First: 7, Rows: [][]byte{[]byte(`{"scope":{"runId":"run_0123456789abcdef"},"type":"run.finished"}`)}}.Append(nil), uint64(6))
	f.Add(wire.Frame{First: 1, Rows: [][]byte{testRow(f, 1, runID, "artifact.created", `{"checksum":"zz","size":-1}`)}}.Append(nil), uint64(3))
	f.Fuzz(func(t *testing.T, data []byte, watermark uint64) {
		frame, err := wire.DecodeFrame(data)
		if err != nil {
			return
		}
		lane := LaneState{Watermark: wire.ProducerSeq(watermark)}
		out := PrepareFrame(edge, lane, frame)
		if out.Fit != Next {
			if len(out.Rows) != 0 || out.Last() != lane.Watermark {
				t.Fatalf("a frame that does not fit has %d rows", len(out.Rows))
			}
			return
		}
		if out.Last() != frame.Last() {
			t.Fatalf("leads to %d, the frame to %d", out.Last(), frame.Last())
		}
		for i, row := range out.Rows {
			if row.Seq != lane.Watermark+1+wire.ProducerSeq(i) {
				t.Fatalf("row %d has number %d", i, row.Seq)
			}
			if row.Run != "" && !json.Valid(row.Entry.Body.Payload) {
				t.Fatalf("row %d would store %q", i, row.Entry.Body.Payload)
			}
		}
		heads := map[id.Run]Head{runID: {Run: runID, Edge: edge, State: run.StateRunning}}
		grown, refused := out.Apply(heads)
		if len(grown) == 0 && len(refused) != len(out.Rows) {
			t.Fatalf("%d rows, no log, %d refused", len(out.Rows), len(refused))
		}
	})
}
