package simulator

import (
	"slices"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/lane"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// journal is the journal of an edge, which tells the truth about what is on disk: each call is.
type journal struct {
	incarnation wire.Incarnation
	rows        [][]byte
	ids         []id.Event
	chains      []wire.Chain // after each row
	receipt     *wire.CommitReceipt
	receipts    map[id.Delivery]wire.CommandReceipt
	runs        []*admittedRun
}

// phase is how far a run has come on its edge.
type phase int

const (
	admitted phase = iota
	intended
	started
	ended
)

// admittedRun is what is written down of a run.
type admittedRun struct {
	id        id.Run
	start     wire.Command
	lease     wire.Lease
	phase     phase
	cancelled bool
	events    []event.Envelope
}

func (r *admittedRun) known() *lane.Known {
	if r == nil {
		return nil
	}
	return &lane.Known{Lease: r.lease, Cancelled: r.cancelled, Ended: r.phase == ended}
}

func (j *journal) run(runID id.Run) *admittedRun {
	i := slices.IndexFunc(j.runs, func(r *admittedRun) bool { return r.id == runID })
	if i < 0 {
		return nil
	}
	return j.runs[i]
}

func (j *journal) head() wire.ProducerSeq { return wire.ProducerSeq(len(j.rows)) }

func (j *journal) chainAt(seq wire.ProducerSeq) (wire.Chain, bool) {
	if seq == 0 || seq > j.head() {
		return wire.Chain{}, seq == 0
	}
	return j.chains[seq-1], true
}

func (j *journal) read(from wire.ProducerSeq, maxBytes int64) lane.Batch {
	b := lane.Batch{First: from}
	for _, row := range j.rows[from-1:] {
		if len(b.Rows) > 0 && b.Bytes+int64(len(row)) > maxBytes {
			break
		}
		b.Rows = append(b.Rows, row)
		b.Bytes += int64(len(row))
	}
	return b
}

func (j *journal) keep(r wire.CommitReceipt) {
	if j.receipt == nil || r.Seq > j.receipt.Seq {
		j.receipt = &r
	}
}

// append puts events on disk, in the edge's order.
func (e *edge) append(r *admittedRun, said ...run.Candidate) {
	j := e.journal
	for _, c := range said {
		payload, err := c.Encode()
		if err != nil {
			e.world.fail("encode %s: %v", c.Type, err)
			return
		}
		env := event.Envelope{
			Version: event.Version, ID: id.NewEvent(), Seq: uint64(j.head()) + 1, Type: event.WireOf(c.Type, payload),
			Scope: event.Scope{RunID: r.id, EdgeID: e.id}, SentAt: e.world.now.Add(e.skew), Payload: payload,
		}
		row, err := event.AppendRow(nil, env)
		if err != nil {
			e.world.fail("write %s: %v", c.Type, err)
			return
		}
		last, _ := j.chainAt(j.head())
		j.rows, j.ids, j.chains = append(j.rows, row), append(j.ids, env.ID), append(j.chains, last.Next(row))
		r.events = append(r.events, env)
		if c.Type.Terminal() || c.Type == event.RunProcessEnded {
			r.phase = ended
		}
		e.world.say(e.name, "journals %d: %s %s", j.head(), name(e.world, r.id), c.Type)
	}
	if e.link != nil && len(said) > 0 {
		e.feed(lane.Grown{Head: j.head()})
	}
}
