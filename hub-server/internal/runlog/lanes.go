package runlog

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Lanes takes over what edges have journalled, each row once. Safe for concurrent use; of one lane the caller commits one frame after
// the other.
type Lanes struct {
	store   LaneStore
	runs    *Runs
	blobs   *Blobs
	signer  *Signer
	log     *slog.Logger
	metrics metrics
}

// maxProducerSeq is more than any journal reaches, and less than what a store's number holds.
const maxProducerSeq wire.ProducerSeq = 1 << 62

// Open takes the lane of a greeting edge: an older connection can commit no more. Rows that the edge no longer has and the hub never
// got are recorded as a gap, and the lane goes on behind it.
func (l *Lanes) Open(ctx context.Context, edge id.Edge, hello wire.Hello) (LaneState, error) {
	if err := checkHello(hello); err != nil {
		return LaneState{}, err
	}
	lane, fresh, err := l.store.OpenLane(ctx, edge, hello)
	if err != nil {
		return LaneState{}, err
	}
	if l.provesRollback(lane, hello) {
		l.log.Error("store was rolled back; its epoch is remade", "edge", edge, "watermark", lane.Watermark, "receipt", hello.Committed.Seq)
		if lane.Epoch, err = l.store.RemakeEpoch(ctx); err != nil {
			return LaneState{}, err
		}
	}
	if fresh {
		if err := l.runs.interruptLost(ctx, edge, hello.LiveRuns); err != nil {
			return LaneState{}, err
		}
	}
	if hello.Floor > lane.Watermark+1 {
		return l.skipGap(ctx, lane, hello)
	}
	return lane, nil
}

// Holder says who has the edge's lane, as the store has it.
func (l *Lanes) Holder(ctx context.Context, edge id.Edge) (Holder, error) {
	return l.store.Holder(ctx, edge)
}

// checkHello bounds what becomes a key of the store.
func checkHello(hello wire.Hello) error {
	if !event.WellFormed(string(hello.Incarnation)) || !event.WellFormed(string(hello.BootNonce)) || hello.Floor > maxProducerSeq {
		return fault.New(fault.FrameUnreadable, "The hub could not read this edge's hello. Update the edge, or the hub.")
	}
	return nil
}

// provesRollback says whether the edge shows our own signature under more than we have, given in this life of the store.
func (l *Lanes) provesRollback(lane LaneState, hello wire.Hello) bool {
	r := hello.Committed
	return r != nil && r.Seq > lane.Watermark && r.Incarnation == hello.Incarnation && r.Epoch == lane.Epoch &&
		l.signer.CheckReceipt(lane.Edge, *r)
}

func (l *Lanes) skipGap(ctx context.Context, lane LaneState, hello wire.Hello) (LaneState, error) {
	gap := Gap{From: lane.Watermark + 1, To: hello.Floor - 1, Chain: hello.FloorChain}
	payload := event.LogGapPayload{FromProducerSeq: uint64(gap.From), ToProducerSeq: uint64(gap.To)}
	var err error
	if gap.Entry, err = own(run.Candidate{Type: event.RunLogGap, Payload: payload}, now()); err != nil {
		return LaneState{}, err
	}
	if err := l.store.RecordGap(ctx, lane, gap); err != nil {
		return LaneState{}, fmt.Errorf("record gap: %w", err)
	}
	l.metrics.gaps.Inc()
	l.log.Error("rows of an edge are lost", "edge", lane.Edge, "from", gap.From, "to", gap.To)
	lane.Watermark, lane.Chain = gap.To, gap.Chain
	return lane, nil
}

// Commit puts the rows of a frame on disk, once each, and says up to where the hub holds the lane now. An error means that the
// outcome is unknown: open the lane again.
func (l *Lanes) Commit(ctx context.Context, f LaneFrame) (LaneResult, error) {
	res, err := l.commit(ctx, f)
	if err != nil {
		return LaneResult{}, err
	}
	res.Receipt = l.signer.Receipt(f.Lane.Edge, wire.CommitReceipt{
		Incarnation: f.Lane.Incarnation, Seq: res.Watermark, Chain: res.Chain, Epoch: f.Lane.Epoch,
	})
	l.metrics.committed(res)
	if len(res.Refused) > 0 {
		l.log.Warn("rows went to quarantine", "edge", f.Lane.Edge, "upto", res.Watermark, "codes", res.Refused)
	}
	return res, nil
}

func (l *Lanes) commit(ctx context.Context, f LaneFrame) (LaneResult, error) {
	unchanged := LaneResult{Watermark: f.Lane.Watermark, Chain: f.Lane.Chain}
	if f.Fit != Next {
		unchanged.Rewind = f.Fit == Ahead
		return unchanged, nil
	}
	if err := l.runs.holds.wait(ctx, f); err != nil {
		return LaneResult{}, err
	}
	if err := l.recognise(ctx, f); err != nil {
		return LaneResult{}, err
	}
	missing, err := l.complete(ctx, f)
	if err != nil {
		return LaneResult{}, err
	}
	if missing != "" {
		unchanged.NeedBlob = missing
		return unchanged, nil
	}
	return l.store.CommitFrame(ctx, f)
}

// complete adds to the rows what only the store knows: texts that are blobs, and the closings of a run whose outcome is refused. It
// returns the first blob that is missing.
func (l *Lanes) complete(ctx context.Context, f LaneFrame) (missing BlobHash, err error) {
	for i := range f.Rows {
		row := &f.Rows[i]
		if row.Again {
			continue
		}
		if missing, err = l.missing(ctx, f.Lane.Edge, row.Entry.Blobs); missing != "" || err != nil {
			return missing, err
		}
		if said := row.Entry.Said; said != nil && said.blob != "" {
			if said.Text, err = l.blobs.text(ctx, said.blob); err != nil {
				return "", fmt.Errorf("read text of row %d: %w", row.Seq, err)
			}
		}
		if row.Ends {
			if err := l.endRefused(ctx, f, row); err != nil {
				return "", fmt.Errorf("end the run of row %d: %w", row.Seq, err)
			}
		}
	}
	return "", nil
}

func (l *Lanes) missing(ctx context.Context, edge id.Edge, hashes []BlobHash) (BlobHash, error) {
	for _, hash := range hashes {
		has, err := l.blobs.Has(ctx, edge, hash)
		if err != nil {
			return "", fmt.Errorf("look for blob: %w", err)
		}
		if !has {
			return hash, nil
		}
	}
	return "", nil
}

// endRefused prepares the end of a run whose own outcome cannot be taken. Only this lane appends content to the run, so what is
// open now, and in the rows before, is what will be open then.
func (l *Lanes) endRefused(ctx context.Context, f LaneFrame, row *LaneRow) error {
	r, err := l.runs.store.Run(ctx, row.Run)
	if fault.CodeOf(err) == fault.NotFound {
		return nil
	}
	if err != nil || r.Edge != f.Lane.Edge || r.State.Ended() {
		return err
	}
	var before []Entry
	for _, earlier := range f.Rows {
		if earlier.Seq < row.Seq && earlier.Run == row.Run {
			before = append(before, earlier.Entry)
		}
	}
	row.Closing, err = l.runs.closer.ending(ctx, r, before, refusedOutcome(row.Refused))
	return err
}
