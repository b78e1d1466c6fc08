package runlog

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Fence is raised each time a connection takes an edge's lane. A commit under an older one changes nothing.
type Fence uint64

// Holder is the connection that took an edge's lane last, as the store has it.
type Holder struct {
	Fence     Fence
	Boot      wire.BootNonce // of the edge process
	Elsewhere bool           // it was at another hub process, and that is on the list of those that live
}

// LaneState is what the holder of an edge's lane knows: where the record stands and under which fence it may go on.
type LaneState struct {
	Edge        id.Edge
	Incarnation wire.Incarnation
	Watermark   wire.ProducerSeq // highest committed row
	Chain       wire.Chain       // after it
	Fence       Fence
	Epoch       wire.Epoch
	Successor   bool // the edge has had another journal: rows of this one may be the same events
}

// Fit is how a frame lies to a lane's watermark.
type Fit uint8

// Fits of a frame.
const (
	Duplicate Fit = iota // all of it is committed: acknowledge again
	Next                 // it follows, perhaps with a head that is committed
	Ahead                // rows before it are missing: rewind
)

// Place compares a frame of rows first to last with the lane. skip is how many rows at its head are committed already.
func (l LaneState) Place(first, last wire.ProducerSeq) (fit Fit, skip int) {
	switch {
	case first > l.Watermark+1:
		return Ahead, 0
	case last <= l.Watermark:
		return Duplicate, 0
	}
	return Next, int(l.Watermark + 1 - first)
}

// LaneResult is what became of a frame. At most one of Fenced, Rewind, NeedBlob and Strange is set; then nothing was committed.
type LaneResult struct {
	Watermark wire.ProducerSeq
	Chain     wire.Chain
	Receipt   wire.CommitReceipt // for all rows up to Watermark
	Fenced    bool               // another connection has taken the lane
	Rewind    bool               // the frame does not follow the watermark
	NeedBlob  BlobHash           // bytes that a row names and the hub does not have from this edge
	Strange   []id.Run           // runs that the store does not know: the edge shows how they began, or is marked as asked

	Events  int          // committed
	Refused []fault.Code // one per row that went to quarantine
}

// now is the hub's time as the record keeps it.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
