package client

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Records returns what was put together, by record and key, such as "message msg_01912f5c": the newest payload of each. The map is the
// caller's, the payloads are not.
func (r *Reducer) Records() map[string]json.RawMessage { return maps.Clone(r.records) }

// Marks returns the numbers that only grow: the last event of each run as "log run_9f2c", how far each user has read as "read SESSION/USER".
func (r *Reducer) Marks() map[string]int64 { return maps.Clone(r.marks) }

// Sessions returns the conversations that are known and not dissolved, in the order of their ids.
func (r *Reducer) Sessions() []SessionCreatedPayload {
	return slices.DeleteFunc(recordsOf[SessionCreatedPayload](r, "session"), func(s SessionCreatedPayload) bool {
		_, dissolved := r.records[recordKey("session.dissolved", s.SessionID)]
		return dissolved
	})
}

// Questions returns the prompts that wait for an answer, the oldest first.
func (r *Reducer) Questions() []Prompt {
	open := r.openQuestions()
	slices.SortStableFunc(open, func(a, b Prompt) int { return a.AskedAt.Compare(b.AskedAt) })
	return open
}

func (r *Reducer) openQuestions() []Prompt {
	var open []Prompt
	for _, n := range recordsOf[NotificationPayload](r, "notification") {
		var p Prompt
		if n.Type == NotificationPayloadTypePrompt && !n.Read && json.Unmarshal(n.Payload, &p) == nil {
			open = append(open, p)
		}
	}
	return open
}

// recordsOf reads the records of a kind, in the order of their keys.
func recordsOf[T any](r *Reducer, record string) []T {
	var all []T
	for _, key := range slices.Sorted(maps.Keys(r.records)) {
		var v T
		if strings.HasPrefix(key, record+" ") && json.Unmarshal(r.records[key], &v) == nil {
			all = append(all, v)
		}
	}
	return all
}

// retain forgets the records of a kind whose key is not among keep: a list of all there are does not have them.
func (r *Reducer) retain(record string, keep map[string]bool) {
	maps.DeleteFunc(r.records, func(key string, _ json.RawMessage) bool {
		rest, ok := strings.CutPrefix(key, record+" ")
		return ok && !keep[rest]
	})
}

// encode writes v as it is, without escaping for HTML.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
