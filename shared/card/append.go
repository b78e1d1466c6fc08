package card

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// Bytes of what stands around a payload, and around a piece of text, as they usually are.
const (
	envelopeBytes = 512
	appendBytes   = 64
)

// timestampLayout is RFC 3339 with milliseconds (S0 §3.2).
const timestampLayout = "2006-01-02T15:04:05.000Z"

// appendTo appends the event as event.Encode would write it, at a part of the cost: most of what a hub projects are small pieces of text. The
// error is that of a payload that is not JSON.
func (e Event) appendTo(dst []byte) ([]byte, error) {
	dst = event.AppendString(append(dst, `{"type":`...), string(e.Type))
	dst = e.Envelope.appendTo(append(dst, `,"envelope":`...))
	for _, part := range []struct {
		key   string
		there bool
		value any
	}{{`,"hint":`, e.Hint != nil, e.Hint}, {`,"metrics":`, e.Metrics != nil, e.Metrics}} {
		if !part.there {
			continue
		}
		value, err := event.Encode(part.value)
		if err != nil {
			return dst, err
		}
		dst = append(append(dst, part.key...), value...)
	}
	dst = append(dst, `,"payload":`...)
	if e.made && utf8.Valid(e.Payload) {
		return append(append(dst, e.Payload...), '}'), nil
	}
	dst, err := appendRaw(dst, e.Payload)
	return append(dst, '}'), err
}

func (e Envelope) appendTo(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendField(dst, "event_id", string(e.EventID))
	dst = appendField(dst, "session_id", string(e.SessionID))
	dst = appendField(dst, "trace_id", string(e.TraceID))
	dst = event.AppendString(append(dst, `"card_id":`...), e.CardID)
	dst = append(dst, ',')
	dst = appendField(dst, "parent_card_id", e.ParentCardID)
	dst = event.AppendString(append(dst, `"card_kind":`...), string(e.CardKind))
	dst = append(dst, ',')
	if e.Seq != 0 {
		dst = strconv.AppendUint(append(dst, `"seq":`...), uint64(e.Seq), 10)
		dst = append(dst, ',')
	}
	dst = appendTime(dst, e.Timestamp)
	dst = appendField(dst, "agent_id", e.AgentID)
	dst = appendField(dst, "agent_role", string(e.AgentRole))
	dst = appendField(dst, "agent_run_id", string(e.AgentRunID))
	dst = appendField(dst, "severity", string(e.Severity))
	dst[len(dst)-1] = '}' // in place of the last comma: there are fields in any case
	return dst
}

func (p AppendPayload) appendTo(dst []byte) []byte {
	dst = event.AppendString(append(dst, `{"channel":`...), string(p.Channel))
	dst = append(dst, ',')
	if p.Index != 0 {
		dst = strconv.AppendInt(append(dst, `"index":`...), int64(p.Index), 10)
		dst = append(dst, ',')
	}
	dst = appendField(dst, "chunk", p.Chunk)
	dst = appendField(dst, "partial_json", p.PartialJSON)
	dst[len(dst)-1] = '}'
	return dst
}

// appendField appends a field with its comma, unless it is empty.
func appendField(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(append(append(dst, '"'), name...), `":`...)
	return append(event.AppendString(dst, value), ',')
}

func appendTime(dst []byte, at time.Time) []byte {
	if at.IsZero() {
		return dst
	}
	dst = at.UTC().AppendFormat(append(dst, `"timestamp":"`...), timestampLayout)
	return append(dst, `",`...)
}

// appendRaw appends a value that is encoded already, without spaces between its parts.
func appendRaw(dst []byte, value json.RawMessage) ([]byte, error) {
	if value == nil {
		return append(dst, "null"...), nil
	}
	if !utf8.Valid(value) {
		value = bytes.ToValidUTF8(value, []byte("\uFFFD"))
	}
	buf := bytes.NewBuffer(dst)
	err := json.Compact(buf, value)
	return buf.Bytes(), err
}
