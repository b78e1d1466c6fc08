package rawedge

import (
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Lane numbers rows as a journal does. Not safe for concurrent use.
type Lane struct {
	Incarnation wire.Incarnation
	Head        wire.ProducerSeq // of the last row made
}

// Row makes the next row.
func (l *Lane) Row(edge id.Edge, run id.Run, t event.Type, payload any) ([]byte, error) {
	encoded, err := json.Marshal(payload)
	if err != nil {
		return nil, err
	}
	l.Head++
	return event.AppendRow(nil, event.Envelope{
		Version: event.Version, ID: id.NewEvent(), Seq: uint64(l.Head), Type: event.Wire(t),
		Scope: event.Scope{RunID: run, EdgeID: edge}, SentAt: time.Now(), Payload: encoded,
	})
}

// Send sends rows, of which the last is the lane's head, as one frame.
func (c *Conn) Send(g wire.Generation, l *Lane, rows ...[]byte) error {
	frame := wire.Frame{Generation: g, First: l.Head + 1 - wire.ProducerSeq(len(rows)), Rows: rows}
	return c.Say(subject.Frame, frame.Append(nil))
}
