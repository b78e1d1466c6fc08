package runlog

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// LaneFrame is a frame ready for its transaction: cut to what is new, parsed, hashed and judged as far as that is possible without the
// store.
type LaneFrame struct {
	Lane  LaneState // as it was when the frame was prepared
	Fit   Fit
	Rows  []LaneRow  // consecutive, from Lane.Watermark+1; none unless Fit is Next
	Chain wire.Chain // after the last of Rows
	// Asked are the runs whose start the edge was asked to show on this connection; nil when it cannot be asked.
	Asked map[id.Run]bool
}

// Last is the watermark that the frame leads to.
func (f LaneFrame) Last() wire.ProducerSeq { return f.Lane.Watermark + wire.ProducerSeq(len(f.Rows)) }

// LaneRow is one row of a frame.
type LaneRow struct {
	Seq   wire.ProducerSeq
	Run   id.Run // as the row claims; "" if it names none
	Entry Entry  // what is appended: the row's event, or run.row_refused in its place
	Raw   []byte // as it came
	Again bool   // the run has this event already, from another journal of the edge: it leaves no trace

	Refused fault.Code // why Raw goes to quarantine; "" for a good row
	Ends    bool       // a refused row that was an outcome: the run fails in its stead …
	Closing []Entry    // … with these events
}

// PrepareFrame compares the frame with the lane and prepares its new rows. It is pure but for the ids of refusals.
func PrepareFrame(edge id.Edge, lane LaneState, f wire.Frame) LaneFrame {
	lane.Edge = edge
	fit, skip := lane.Place(f.First, f.Last())
	out := LaneFrame{Lane: lane, Fit: fit, Chain: lane.Chain}
	if fit != Next {
		return out
	}
	out.Rows = make([]LaneRow, 0, len(f.Rows)-skip)
	for i, raw := range f.Rows[skip:] {
		out.Chain = out.Chain.Next(raw)
		out.Rows = append(out.Rows, prepareRow(lane.Watermark+1+wire.ProducerSeq(i), raw))
	}
	return out
}

func prepareRow(seq wire.ProducerSeq, raw []byte) LaneRow {
	env, err := event.ParseRow(raw)
	if err != nil {
		return refuseRow(seq, raw, codeOf(err))
	}
	if env.Seq != uint64(seq) {
		return refuseRow(seq, raw, fault.RowUnreadable)
	}
	t := event.Stored(env.Type, env.Payload)
	if !t.Appenders().Has(event.ByEdge) {
		return refuseRow(seq, raw, fault.RowNotAppendable)
	}
	runID, err := id.ParseRun(string(env.Scope.RunID))
	if err != nil {
		return LaneRow{Seq: seq, Raw: raw, Refused: fault.RowUnknownRun}
	}
	entry, err := fromEdge(env, t)
	if err != nil {
		return refuseRow(seq, raw, fault.RowUnreadable)
	}
	if entry.Prompt.throughHub() { // who answered is for the hub to say: it knows who was logged in
		return refuseRow(seq, raw, fault.RowNotAppendable)
	}
	entry.ProducerSeq = seq
	return LaneRow{Seq: seq, Run: runID, Entry: entry, Raw: raw}
}

func codeOf(err error) fault.Code {
	if errors.Is(err, event.ErrRowTooLarge) {
		return fault.RowTooLarge
	}
	return fault.RowUnreadable
}

func fromEdge(env event.Envelope, t event.Type) (Entry, error) {
	e := Entry{ID: env.ID, Type: t, WireType: env.Type, OccurredAt: env.SentAt, SpanID: env.SpanID}
	if env.TraceID != "" {
		trace, err := event.ParseTraceID(env.TraceID)
		if err != nil {
			return Entry{}, err
		}
		e.TraceID = trace
	}
	err := e.fill(env.Payload)
	return e, err
}

// refuseRow prepares run.row_refused for the run that the row names, as far as it can be read at all.
func refuseRow(seq wire.ProducerSeq, raw []byte, code fault.Code) LaneRow {
	row := LaneRow{Seq: seq, Raw: raw, Refused: code}
	var claim struct {
		Type  event.WireType `json:"type"`
		Scope struct {
			RunID string `json:"runId"`
		} `json:"scope"`
	}
	if event.Depth(raw) > event.MaxDepth || json.Unmarshal(raw, &claim) != nil {
		return row
	}
	runID, err := id.ParseRun(claim.Scope.RunID)
	if err != nil {
		return row
	}
	refusal := event.RowRefusedPayload{ProducerSeq: uint64(seq), Code: code}
	entry, err := own(run.Candidate{Type: event.RunRowRefused, Payload: refusal}, now())
	if err != nil {
		return row
	}
	row.Run, row.Entry, row.Ends = runID, entry, event.Stored(claim.Type, nil).Terminal()
	row.Entry.ProducerSeq = seq
	return row
}

// refusedOutcome is what a run ends with when its own outcome could not be taken.
func refusedOutcome(code fault.Code) run.Outcome {
	return run.Failed(event.ErrorObj{
		Code:    code,
		Message: fmt.Sprintf("The run ended, but the hub could not take the event that says how (%s). The event is kept in quarantine.", code),
	})
}
