// Package canonical projects a run's committed log to S2's stream: the lean event for clients, the whole envelope for audit, both as JSON
// and as frames of server-sent events, and the cursors by which a client goes on. It is pure: the same events give the same bytes.
package canonical

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// View is how much of an event is shown.
type View string

// Views.
const (
	Lean View = "lean" // what a client draws: the default (R3)
	Full View = "full" // the whole envelope, for audit
)

// ParseView reads the `view` of a request; "" is Lean.
func ParseView(s string) (View, error) {
	switch v := View(s); v {
	case "":
		return Lean, nil
	case Lean, Full:
		return v, nil
	}
	return "", fault.New(fault.InvalidRequest, "view must be lean or full.")
}

// Projection is how one reader sees one run's events.
type Projection struct {
	View          View
	Agent         id.Agent   // of the run; shown in Full
	AgentChecksum string     // of the run; shown in Full
	IDEpoch       wire.Epoch // when set, the ids of frames are `<epoch>.<seq>`
}

// timeFormat keeps all digits that the record has, always six of them.
const timeFormat = "2006-01-02T15:04:05.000000Z"

// Append appends e as a JSON object, its payload byte for byte as it is stored. Names and ids are well formed since they were committed,
// so none needs escaping.
func (p Projection) Append(dst []byte, e runlog.StoredEvent) []byte {
	dst = text(dst, `{"run_id":`, string(e.Run))
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendUint(dst, uint64(e.Seq), 10)
	dst = text(dst, `,"event_type":`, string(e.Type))
	dst = moment(dst, `,"occurred_at":`, e.OccurredAt)
	if p.View == Full {
		dst = p.audit(dst, e)
	}
	if e.Late {
		dst = append(dst, `,"late":true`...)
	}
	dst = append(dst, `,"payload":`...)
	dst = append(dst, e.Payload...)
	return append(dst, '}')
}

// audit appends what a client has no use for, but who checks the log has.
func (p Projection) audit(dst []byte, e runlog.StoredEvent) []byte {
	dst = moment(dst, `,"recorded_at":`, e.RecordedAt)
	dst = text(dst, `,"event_id":`, string(e.ID))
	dst = text(dst, `,"wire_type":`, string(e.WireType))
	dst = text(dst, `,"agent_id":`, string(p.Agent))
	dst = text(dst, `,"agent_snapshot_checksum":`, p.AgentChecksum)
	dst = text(dst, `,"payload_checksum":`, e.Checksum)
	dst = append(dst, `,"schema_version":`...)
	dst = strconv.AppendInt(dst, int64(e.Schema), 10)
	dst = text(dst, `,"trace_id":`, e.TraceID)
	if e.SpanID != "" {
		dst = text(dst, `,"span_id":`, e.SpanID)
	}
	source := "hub"
	if e.Edge != "" {
		source = "edge"
	}
	dst = text(dst, `,"provenance":{"source_type":`, source)
	dst = text(dst, `,"source_event_id":`, string(e.ID))
	return append(dst, '}')
}

func text(dst []byte, key, value string) []byte {
	dst = append(dst, key...)
	return strconv.AppendQuote(dst, value)
}

func moment(dst []byte, key string, at time.Time) []byte {
	dst = append(dst, key...)
	dst = append(dst, '"')
	dst = at.UTC().AppendFormat(dst, timeFormat)
	return append(dst, '"')
}

// AppendPage appends a page of the log: `{items, next?, last_event_seq, epoch}`.
func (p Projection) AppendPage(dst []byte, page runlog.EventPage, epoch wire.Epoch) []byte {
	dst = append(dst, `{"items":[`...)
	for i, e := range page.Events {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = p.Append(dst, e)
	}
	dst = append(dst, ']')
	if n := len(page.Events); n > 0 && page.Events[n-1].Seq < page.Last {
		dst = append(dst, `,"next":`...)
		dst = strconv.AppendUint(dst, uint64(page.Events[n-1].Seq), 10)
	}
	dst = append(dst, `,"last_event_seq":`...)
	dst = strconv.AppendUint(dst, uint64(page.Last), 10)
	dst = text(dst, `,"epoch":`, string(epoch))
	return append(dst, '}')
}

// AppendFrame appends e as a named frame of server-sent events. Line ends of the payload, which JSON allows between values only, become
// spaces: a frame has one data line.
func (p Projection) AppendFrame(dst []byte, e runlog.StoredEvent) []byte {
	dst = append(dst, "id: "...)
	dst = Cursor{Epoch: p.IDEpoch, Seq: e.Seq}.append(dst)
	dst = append(dst, "\nevent: "...)
	dst = append(dst, e.Type...)
	dst = append(dst, "\ndata: "...)
	start := len(dst)
	dst = p.Append(dst, e)
	OneLine(dst[start:])
	return append(dst, "\n\n"...)
}

// OneLine puts spaces in place of the line ends of a JSON value, which can only stand between values, and returns it.
func OneLine(value []byte) []byte {
	for rest := value; ; {
		i := bytes.IndexAny(rest, "\r\n")
		if i < 0 {
			return value
		}
		rest[i], rest = ' ', rest[i+1:]
	}
}

// KeepAlive is the comment of an idle stream.
const KeepAlive = ": keep-alive\n\n"

// AppendHello appends what a stream begins with: how soon to come back, and the epoch for who reads comments.
func AppendHello(dst []byte, epoch wire.Epoch) []byte {
	dst = append(dst, "retry: 1000\n: epoch "...)
	dst = append(dst, epoch...)
	return append(dst, "\n\n"...)
}

// AppendReset appends the frame by which a stream says that the client's cursor is of another epoch (R2). Its empty id makes a browser
// forget the cursor, so that it begins anew when it comes back.
func AppendReset(dst []byte, epoch wire.Epoch, last runlog.EventSeq) ([]byte, error) {
	data, err := json.Marshal(struct {
		Code  fault.Code      `json:"code"`
		Epoch wire.Epoch      `json:"epoch"`
		Last  runlog.EventSeq `json:"last_event_seq"`
	}{fault.CursorReset, epoch, last})
	if err != nil {
		return nil, err
	}
	dst = append(dst, "id:\nevent: cursor_reset\ndata: "...)
	dst = append(dst, data...)
	return append(dst, "\n\n"...), nil
}
