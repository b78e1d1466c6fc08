package runlog

import (
	"slices"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Refusal is a row that goes to quarantine, as it came.
type Refusal struct {
	Seq  wire.ProducerSeq
	Run  id.Run // as the row claims
	Code fault.Code
	Raw  []byte
}

// Runs returns the runs that the frame's rows name, each once, in the order of their first row.
func (f LaneFrame) Runs() []id.Run {
	var runs []id.Run
	seen := map[id.Run]bool{"": true}
	for _, row := range f.Rows {
		if !seen[row.Run] {
			seen[row.Run] = true
			runs = append(runs, row.Run)
		}
	}
	return runs
}

// Strange returns the runs that the store does not know and the edge can still be asked about: the frame has to wait until it has answered.
func (f LaneFrame) Strange(heads map[id.Run]Head) []id.Run {
	if f.Asked == nil {
		return nil
	}
	return slices.DeleteFunc(f.Runs(), func(r id.Run) bool {
		_, known := heads[r]
		return known || f.Asked[r]
	})
}

// Apply decides what becomes of each row, given where the logs of the runs end that the store knows. A row for a run that is not this
// edge's goes to quarantine and leaves no trace in that run; a row that is refused for itself leaves run.row_refused. It is pure.
func (f LaneFrame) Apply(heads map[id.Run]Head) ([]*Growth, []Refusal) {
	var grown []*Growth
	byRun := map[id.Run]*Growth{}
	for _, runID := range f.Runs() {
		if head, ok := heads[runID]; ok && head.Edge == f.Lane.Edge {
			g := head.Grow()
			byRun[runID], grown = g, append(grown, g)
		}
	}
	var refused []Refusal
	for _, row := range f.Rows {
		if row.Again {
			continue
		}
		g := byRun[row.Run]
		if code := row.refusal(g != nil, heads); code != "" {
			refused = append(refused, Refusal{Seq: row.Seq, Run: row.Run, Code: code, Raw: row.Raw})
		}
		if g != nil {
			row.appendTo(g)
		}
	}
	return grown, refused
}

func (r LaneRow) refusal(mine bool, heads map[id.Run]Head) fault.Code {
	if r.Refused != "" || mine {
		return r.Refused
	}
	if _, known := heads[r.Run]; known {
		return fault.RowForeignRun
	}
	return fault.RowUnknownRun
}

func (r LaneRow) appendTo(g *Growth) {
	g.Append(r.Entry)
	if r.Ends && !g.State.Ended() {
		for _, e := range r.Closing {
			g.Append(e)
		}
	}
}
