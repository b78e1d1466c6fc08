package client

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// remaining are the fields that a recalled message keeps; its content is {} and `recalled` is true, as the hub has it.
var remaining = []string{
	"id", "message_id", "session_id", "seq_id", "client_msg_id", "sender_type", "sender_id", "content_type", "task_ids", "created_at",
}

// remains is what is left of a message that was recalled.
func remains(payload json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(payload, &fields); err != nil {
		return nil, err
	}
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return !slices.Contains(remaining, name) })
	fields["content"], fields["recalled"] = json.RawMessage("{}"), json.RawMessage("true")
	return encode(fields)
}

// asRecalled returns what a payload comes to where its message was recalled, and whether nothing is left of it: a recall stands whatever
// comes later. A message that says itself that it was recalled is as good as message.recall.
func (r *Reducer) asRecalled(rule rule, parts []string, payload json.RawMessage) (json.RawMessage, bool) {
	switch rule.record {
	case message:
		var m struct {
			Session  json.RawMessage `json:"session_id"`
			ID       json.RawMessage `json:"id"`
			Recalled bool            `json:"recalled"`
		}
		if json.Unmarshal(payload, &m) != nil {
			return payload, false
		}
		if key := recordKey(recall, parts[0]); m.Recalled && r.records[key] == nil {
			r.records[key], _ = encode(map[string]json.RawMessage{"message_id": m.ID, "session_id": m.Session})
			delete(r.records, recordKey(message, parts[0])) // whichever version it was
			r.recalled(parts[0])
		}
		if r.isRecalled(parts[0]) {
			if left, err := remains(payload); err == nil {
				return left, false
			}
		}
	case pin:
		return payload, rule.effect == put && r.isRecalled(parts[1])
	case reaction:
		return payload, rule.effect == put && r.isRecalled(parts[0])
	}
	return payload, false
}

func (r *Reducer) isRecalled(id MessageID) bool { return r.records[recordKey(recall, id)] != nil }

// recalled makes of a message, if it is known, what is left of it.
func (r *Reducer) recalled(id MessageID) {
	key := recordKey(message, id)
	if before, known := r.records[key]; known {
		if left, err := remains(before); err == nil {
			r.records[key] = left
		}
	}
	maps.DeleteFunc(r.records, func(key string, _ json.RawMessage) bool {
		return strings.HasPrefix(key, recordKey(reaction, id, "")) || strings.HasPrefix(key, pin+" ") && strings.HasSuffix(key, "/"+id)
	})
}

// earlier says whether a payload is an earlier version than a record.
func earlier(payload, record json.RawMessage, field string) bool {
	return versionOf(payload, field) < versionOf(record, field)
}

func versionOf(object json.RawMessage, field string) int64 {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return 0
	}
	n, err := strconv.ParseInt(string(fields[field]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
