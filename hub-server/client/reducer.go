package client

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// Reducer applies frames by business key into a snapshot, so that a frame that comes twice counts once. Of the past it keeps as much as Limits say. Not
// safe for concurrent use.
type Reducer struct {
	records map[string]json.RawMessage // by record and key
	marks   map[string]int64           // numbers that only grow, by record and key; the last event_seq of each run among them
	all     chain
	runs    map[RunID]*chain
	me      UserID // whose it is; "" if nobody has said so
	tallies map[SessionID]*tally
	memory  memory
}

// NewReducer returns an empty snapshot.
func NewReducer() *Reducer {
	return &Reducer{
		records: map[string]json.RawMessage{}, marks: map[string]int64{}, runs: map[RunID]*chain{}, tallies: map[SessionID]*tally{}, memory: newMemory(),
	}
}

// Verdict says what Apply did with a frame.
type Verdict uint8

// Verdicts of Apply.
const (
	Ignored  Verdict = iota // not kept: ephemeral, about the connection, unknown, or without its key
	Applied                 // new, or a new version of a record
	Repeated                // known already; nothing changed
	Missed                  // a line of a run's log, but not the next one: nothing changed, fetch the events after Watermark first
)

// Apply applies one frame.
func (r *Reducer) Apply(f HubWebSocketFrame) Verdict {
	rule, known := ruleOf(f.Type)
	if !known || rule.effect == ignored {
		return Ignored
	}
	if rule.effect == whole {
		return r.replace(rule, f.Payload)
	}
	parts, err := keyFields(f.Payload, rule.key)
	if err != nil {
		return Ignored
	}
	r.tally(f.Type, f.Payload)
	verdict, past := r.past(rule, parts, f.Payload)
	if !past {
		verdict = r.present(rule, parts, f.Payload)
	}
	if rule.record == membership && r.member(rule, parts, f.Payload) {
		verdict = Applied
	}
	if verdict == Applied && rule.record != presence {
		r.all.add(string(f.Type)+" "+strings.Join(parts, "/"), f.Payload)
	}
	return verdict
}

// present applies a frame that is about nothing forgotten.
func (r *Reducer) present(rule rule, parts []string, payload json.RawMessage) Verdict {
	left, recalled := r.asRecalled(rule, parts, payload)
	if recalled {
		return Repeated
	}
	verdict := r.apply(rule, parts, left)
	if verdict != Applied {
		return verdict
	}
	if rule.record == recall {
		r.recalled(parts[0])
	}
	r.remember(rule, parts, payload)
	return verdict
}

func (r *Reducer) apply(rule rule, parts []string, payload json.RawMessage) Verdict {
	switch rule.effect {
	case forward:
		return r.forward(rule, parts)
	case appended:
		return r.append(rule, parts, payload)
	}
	key := recordKey(rule.record, parts...)
	before, known := r.records[key]
	if known && rule.version != "" && earlier(payload, before, rule.version) {
		return Repeated
	}
	payload, err := rule.kept(before, payload)
	switch {
	case err != nil:
		return Ignored
	case rule.effect == remove && !known, rule.effect == once && known, rule.effect <= merge && known && same(before, payload),
		rule.record == notified && readStays(before, payload):
		return Repeated
	case rule.effect == remove:
		delete(r.records, key)
	default:
		r.records[key] = bytes.Clone(payload)
	}
	return Applied
}

// kept is what becomes of a record by a payload.
func (r rule) kept(before, payload json.RawMessage) (json.RawMessage, error) {
	if len(r.omit) > 0 {
		var err error
		if payload, err = without(payload, r.omit...); err != nil {
			return nil, err
		}
	}
	if r.effect == merge {
		return merged(before, payload)
	}
	return payload, nil
}

// same says whether two payloads are the same value, however they are written: one may come from the socket, one from REST.
func same(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := event.Canonical(a)
	y, errY := event.Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func (r *Reducer) forward(rule rule, parts []string) Verdict {
	last := len(parts) - 1
	number, err := strconv.ParseInt(parts[last], 10, 64)
	key := recordKey(rule.record, parts[:last]...)
	switch {
	case err != nil:
		return Ignored
	case number <= r.marks[key]:
		return Repeated
	}
	r.marks[key] = number
	return Applied
}

func (r *Reducer) append(rule rule, parts []string, payload json.RawMessage) Verdict {
	seq, err := strconv.ParseInt(parts[1], 10, 64)
	key := recordKey(rule.record, parts[0])
	switch mark := r.marks[key]; {
	case err != nil:
		return Ignored
	case seq <= mark:
		return Repeated
	case seq > mark+1:
		return Missed
	}
	r.marks[key] = seq
	r.logOf(parts[0]).addEvent(seq, payload)
	return Applied
}

func (r *Reducer) logOf(run RunID) *chain {
	if r.runs[run] == nil {
		r.runs[run] = &chain{}
	}
	return r.runs[run]
}

func recordKey(record string, parts ...string) string {
	return record + " " + strings.Join(parts, "/")
}

// Watermark is the last event_seq of the run's log that was applied, 0 if none was.
func (r *Reducer) Watermark(run RunID) int64 { return r.marks[recordKey("log", run)] }

// Begin makes the next event of a run the one after seq, for a caller who does not want what came before.
func (r *Reducer) Begin(run RunID, seq int64) {
	r.marks[recordKey("log", run)] = seq
}

// Message returns the newest version of a message; false if none was applied.
func (r *Reducer) Message(id MessageID) (Message, bool) {
	var m Message
	raw, known := r.records[recordKey("message", id)]
	return m, known && json.Unmarshal(raw, &m) == nil
}

// Outcome returns the type of the frame that ended the run: agent.done, agent.failed or agent.cancel; "" if none has.
func (r *Reducer) Outcome(run RunID) HubWebSocketFrameType {
	for _, t := range []HubWebSocketFrameType{HubWebSocketFrameTypeAgentDone, HubWebSocketFrameTypeAgentFailed, HubWebSocketFrameTypeAgentCancel} {
		if _, known := r.records[recordKey(string(t), run)]; known {
			return t
		}
	}
	return r.memory.outcomes[run]
}

// Len is how many frames of the record were applied.
func (r *Reducer) Len() int { return r.all.length }

// Digest is over all frames of the record that were applied, in their order: two devices with the same digest have seen the same.
// Presence is no part of the record: who was there at another time has not seen the same of it.
func (r *Reducer) Digest() string { return r.all.String() }

// RunDigest is over the events of one run that were applied; see LogDigest.
func (r *Reducer) RunDigest(run RunID) string {
	return r.logOf(run).String()
}
