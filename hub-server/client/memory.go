package client

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// keptByDefault is how much of the past a Reducer keeps if nobody says.
const keptByDefault = 10_000

// Limits say how much of the past a Reducer keeps. 0 is 10,000, less than 0 is all of it. Beyond them the oldest is forgotten: of a conversation the
// messages with the lowest numbers, with their reactions and recalls; of the runs those that ended first, with what was asked in them and needs no
// answer. Never forgotten are open questions, conversations and who is in them, how much is unread, pins, marks, runs under way, and of every run its
// outcome, watermark and digest.
//
// What is told does not depend on the limits, but for one thing: an edit, a reaction or a recall of a forgotten message counts as new each time that it
// comes, and is not kept. Hubs repeat only what is recent, so with limits of hundreds this is never seen, and Digest is that of a Reducer without limits.
type Limits struct {
	Messages int // of each conversation
	Runs     int // that have ended
}

// memory is what of a Reducer's records may be forgotten, in the order in which it is.
type memory struct {
	limits   Limits
	messages map[SessionID][]numbered
	floors   map[SessionID]SeqID             // the newest message that was forgotten
	ended    []RunID                         // and kept; the one that ended first in front
	outcomes map[RunID]HubWebSocketFrameType // of the runs that were forgotten
	tied     map[string][]string             // keys of records that go with a message or a run, by its key
}

// numbered is a message in the order of its conversation.
type numbered struct {
	seq SeqID
	id  MessageID
}

func newMemory() memory {
	return memory{messages: map[SessionID][]numbered{}, floors: map[SessionID]SeqID{}, outcomes: map[RunID]HubWebSocketFrameType{}, tied: map[string][]string{}}
}

// Keep says how much of the past is kept from now on.
func (r *Reducer) Keep(limits Limits) {
	r.memory.limits = limits
	for session := range r.memory.messages {
		r.forgetMessages(session)
	}
	r.forgetRuns()
}

// beyond is how many of n things are too many.
func beyond(n, limit int) int {
	if limit < 0 {
		return 0
	}
	return max(0, n-cmp.Or(limit, keptByDefault))
}

// concern is what the payloads of messages and questions say about what they belong to.
type concern struct {
	Session  SessionID       `json:"session_id"`
	Seq      SeqID           `json:"seq_id"`
	EditedAt json.RawMessage `json:"edited_at"`
	Recalled bool            `json:"recalled"`
	Read     bool            `json:"read"`
	Question struct {
		Task RunID `json:"task_id"`
	} `json:"payload"`
}

func concernOf(payload json.RawMessage) (c concern) {
	_ = json.Unmarshal(payload, &c) // of what has another form nothing is known
	return c
}

// past says what a frame comes to that is about something forgotten; false if it is about anything else.
func (r *Reducer) past(rule rule, parts []string, payload json.RawMessage) (Verdict, bool) {
	if len(r.memory.floors) == 0 && len(r.memory.outcomes) == 0 {
		return Ignored, false
	}
	switch rule.record {
	case message:
		return r.pastMessage(parts[0], payload)
	case recall, reaction:
		_, known := r.records[recordKey(message, parts[0])]
		return Applied, !known && r.memory.floors[concernOf(payload).Session] > 0
	case "dispatch", "control":
		return Repeated, r.memory.outcomes[parts[0]] != ""
	case string(HubWebSocketFrameTypeAgentDone), string(HubWebSocketFrameTypeAgentFailed), string(HubWebSocketFrameTypeAgentCancel):
		return Repeated, string(r.memory.outcomes[parts[0]]) == rule.record
	case notified:
		_, known := r.records[recordKey(notified, parts[0])]
		about := concernOf(payload)
		return Repeated, !known && about.Read && r.memory.outcomes[about.Question.Task] != ""
	}
	return Ignored, false
}

// pastMessage says the same of a message. Everything up to the floor was told, so only an edit or a recall may be news.
func (r *Reducer) pastMessage(id MessageID, payload json.RawMessage) (Verdict, bool) {
	if _, known := r.records[recordKey(message, id)]; known {
		return Ignored, false
	}
	m := concernOf(payload)
	if m.Seq > r.memory.floors[m.Session] {
		return Ignored, false
	}
	if m.Recalled || len(m.EditedAt) > 0 && string(m.EditedAt) != "null" {
		return Applied, true
	}
	return Repeated, true
}

// remember notes what a record that was applied belongs to, and forgets what is too old then.
func (r *Reducer) remember(rule rule, parts []string, payload json.RawMessage) {
	key := recordKey(rule.record, parts...)
	switch rule.record {
	case message:
		m := concernOf(payload)
		if _, recalled := r.records[recordKey(recall, parts[0])]; recalled {
			r.memory.tie(key, recordKey(recall, parts[0]), false)
		}
		r.memory.number(m.Session, numbered{m.Seq, parts[0]})
		r.forgetMessages(m.Session)
	case recall, reaction:
		r.memory.tie(recordKey(message, parts[0]), key, rule.effect == remove)
	case "dispatch", "control":
		r.memory.tie(recordKey("run", parts[0]), key, false)
	case string(HubWebSocketFrameTypeAgentDone), string(HubWebSocketFrameTypeAgentFailed), string(HubWebSocketFrameTypeAgentCancel):
		r.memory.tie(recordKey("run", parts[0]), key, false)
		if r.memory.outcomes[parts[0]] == "" && !slices.Contains(r.memory.ended, parts[0]) {
			r.memory.ended = append(r.memory.ended, parts[0])
			r.forgetRuns()
		}
	case notified:
		if run := concernOf(payload).Question.Task; run != "" {
			r.memory.tie(recordKey("run", run), key, false)
			if r.memory.outcomes[run] != "" {
				r.forgetRun(run)
			}
		}
	}
}

// number puts a message at its place. One without a conversation or a number is never forgotten.
func (m *memory) number(session SessionID, news numbered) {
	if session == "" || news.seq <= 0 {
		return
	}
	all := m.messages[session]
	at, known := slices.BinarySearchFunc(all, news, func(a, b numbered) int { return cmp.Compare(a.seq, b.seq) })
	if !known {
		m.messages[session] = slices.Insert(all, at, news)
	}
}

// tie lets a record go when the one of owner does, or undoes that.
func (m *memory) tie(owner, key string, gone bool) {
	all := m.tied[owner]
	switch at := slices.Index(all, key); {
	case gone && at >= 0:
		m.tied[owner] = slices.Delete(all, at, at+1)
	case !gone && at < 0:
		m.tied[owner] = append(all, key)
	}
}

func (r *Reducer) forgetMessages(session SessionID) {
	all := r.memory.messages[session]
	many := beyond(len(all), r.memory.limits.Messages)
	for _, m := range all[:many] {
		key := recordKey(message, m.id)
		for _, tied := range r.memory.tied[key] {
			delete(r.records, tied)
		}
		delete(r.memory.tied, key)
		delete(r.records, key)
		r.memory.floors[session] = max(r.memory.floors[session], m.seq)
	}
	if many > 0 {
		r.memory.messages[session] = all[many:]
	}
}

func (r *Reducer) forgetRuns() {
	many := beyond(len(r.memory.ended), r.memory.limits.Runs)
	for _, run := range r.memory.ended[:many] {
		r.memory.outcomes[run] = r.Outcome(run)
		r.forgetRun(run)
	}
	r.memory.ended = r.memory.ended[many:]
}

// forgetRun forgets what is tied to a run, but for questions that are open.
func (r *Reducer) forgetRun(run RunID) {
	owner := recordKey("run", run)
	open := slices.DeleteFunc(r.memory.tied[owner], func(key string) bool {
		if strings.HasPrefix(key, notified+" ") && !concernOf(r.records[key]).Read {
			return false
		}
		delete(r.records, key)
		return true
	})
	if r.memory.tied[owner] = open; len(open) == 0 {
		delete(r.memory.tied, owner)
	}
}
