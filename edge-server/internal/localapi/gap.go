package localapi

import (
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// systemGap is the event that stands for rows that cannot be replayed (S3, edge common). It is made for one program and never stored.
const systemGap event.WireType = "system.gap"

// gap is the payload of system.gap.
type gap struct {
	First wire.ProducerSeq `json:"firstDroppedSeq"`
	Last  wire.ProducerSeq `json:"lastDroppedSeq"`
	Count uint64           `json:"droppedCount"`
}

// message is the gap as an envelope. Its seq is 0: it has no place in the log.
func (g gap) message(edge id.Edge, at time.Time) ([]byte, error) {
	payload, err := event.Encode(g)
	if err != nil {
		return nil, fmt.Errorf("encode gap: %w", err)
	}
	return event.Encode(event.Envelope{
		Version: event.Version, ID: id.NewEvent(), Type: systemGap, Scope: event.Scope{EdgeID: edge},
		SentAt: at.UTC().Truncate(time.Microsecond), Payload: payload,
	})
}
