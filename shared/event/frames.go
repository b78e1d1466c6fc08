package event

// FrameType is the `type` of a frame on /client/ws (S3).
type FrameType string

// Repeat says what applying the same frame twice does.
type Repeat string

// Repeat semantics of S3.
const (
	Upsert    Repeat = "upsert"     // merge by id; never a second row
	Idem      Repeat = "idempotent" // applying again changes nothing
	Watermark Repeat = "watermark"  // only moves forward
	Ephemeral Repeat = "ephemeral"  // may be lost or repeated; not state
)

// FrameRow is one line of the table of Hub frames.
type FrameRow struct {
	Type    FrameType
	Key     string // business key by which a client applies it
	Repeat  []Repeat
	Meaning string
}

// Hub frames that this module refers to by name.
const (
	FrameAgentStream FrameType = "agent.stream"
	FrameAgentDone   FrameType = "agent.done"
	FrameAgentFailed FrameType = "agent.failed"
	FrameAgentCancel FrameType = "agent.cancel"
)
