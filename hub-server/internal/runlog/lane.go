package runlog

import (
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Fence is raised each time a connection takes an edge's lane. A commit under an older one changes nothing.
type Fence uint64

// LaneState is what the holder of an edge's lane knows: where the record stands and under which fence it may go on.
type LaneState struct {
	Edge        id.Edge
	Incarnation wire.Incarnation
	Watermark   wire.ProducerSeq // highest committed row
	Chain       wire.Chain       // after it
	Fence       Fence
	Epoch       wire.Epoch
}

// LaneResult is what became of a frame. At most one of Fenced, Rewind and NeedBlob is set; then nothing was committed.
type LaneResult struct {
	Watermark wire.ProducerSeq
	Chain     wire.Chain
	Receipt   wire.CommitReceipt // for all rows up to Watermark
	Fenced    bool               // another connection has taken the lane
	Rewind    bool               // the frame does not follow the watermark
	NeedBlob  string             // hex SHA-256 of bytes that a row names and the hub does not have from this edge
}
