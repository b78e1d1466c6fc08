package cards

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// readDelta is read for pieces of text, which are most of what there is. It knows the form that our own producers write, and leaves any other to
// the library.
func readDelta(f Fact) (event.DeltaPayload, bool) {
	if p, ok := quickDelta(f.Payload); ok {
		return p, true
	}
	return read[event.DeltaPayload](f)
}

// quickDelta reads `{"message_id":"…","content_index":0,"delta":"…"}`, with an agent_id behind it or without; false for anything else.
func quickDelta(payload []byte) (event.DeltaPayload, bool) {
	var p event.DeltaPayload
	message, rest, ok := quoted(payload, `{"message_id":`)
	if !ok || bytes.IndexByte(message, '\\') >= 0 {
		return p, false
	}
	index, rest, ok := digitsOf(rest, `,"content_index":`)
	if !ok {
		return p, false
	}
	text, rest, ok := quoted(rest, `,"delta":`)
	if !ok {
		return p, false
	}
	if agent, after, ok := quoted(rest, `,"agent_id":`); ok && bytes.IndexByte(agent, '\\') < 0 {
		p.AgentID, rest = event.SubAgent(agent), after
	}
	if string(rest) != "}" || !unescaped(text, &p.Delta) {
		return p, false
	}
	p.MessageID, p.ContentIndex = id.Message(message), index
	return p, true
}

// quoted returns what stands in the string behind key, as it is written.
func quoted(data []byte, key string) (inside, rest []byte, ok bool) {
	data, ok = bytes.CutPrefix(data, []byte(key))
	if !ok || len(data) == 0 || data[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return data[1:i], data[i+1:], true
		}
	}
	return nil, nil, false
}

func digitsOf(data []byte, key string) (n int, rest []byte, ok bool) {
	data, ok = bytes.CutPrefix(data, []byte(key))
	end := 0
	for end < len(data) && data[end] >= '0' && data[end] <= '9' {
		end++
	}
	if !ok || end == 0 || end > 1 && data[0] == '0' {
		return 0, nil, false
	}
	n, err := strconv.Atoi(string(data[:end]))
	return n, data[end:], err == nil
}

// unescaped reads what stands in a string.
func unescaped(inside []byte, to *string) bool {
	if bytes.IndexByte(inside, '\\') < 0 {
		*to = string(inside)
		return true
	}
	whole := append(append([]byte{'"'}, inside...), '"')
	return json.Unmarshal(whole, to) == nil
}
