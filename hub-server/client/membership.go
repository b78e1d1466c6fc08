package client

import (
	"encoding/json"
	"slices"
)

// Of says whose snapshot this is: a conversation that this user leaves is forgotten.
func (r *Reducer) Of(user UserID) { r.me = user }

// member edits who is in a conversation that is known, as a fresh list of conversations would have it; false if that changes nothing.
func (r *Reducer) member(rule rule, parts []string, payload json.RawMessage) bool {
	if rule.effect == remove && parts[1] == r.me {
		return r.leave(parts[0])
	}
	key := recordKey("session", parts[0])
	record, known := r.records[key]
	if !known {
		return false
	}
	var fields map[string]json.RawMessage
	var members []json.RawMessage
	if json.Unmarshal(record, &fields) != nil || json.Unmarshal(fields["members"], &members) != nil {
		return false
	}
	edited, err := edit(members, rule.effect == remove, parts[1], payload)
	if err != nil {
		return false
	}
	if fields["members"], err = encode(edited); err != nil {
		return false
	}
	after, err := encode(fields)
	if err != nil || same(record, after) {
		return false
	}
	r.records[key] = after
	return true
}

// leave forgets a conversation, and what is asked in it: whoever has left is not told how that ends. It says whether there was anything.
func (r *Reducer) leave(session SessionID) bool {
	before := len(r.records)
	delete(r.records, recordKey("session", session))
	delete(r.tallies, session)
	for _, q := range r.openQuestions() {
		if q.SessionID == session {
			delete(r.records, recordKey(notified, q.RequestID))
		}
	}
	return len(r.records) < before
}

// edit returns members without one, or with one as the frame has it.
func edit(members []json.RawMessage, gone bool, id MemberID, payload json.RawMessage) ([]json.RawMessage, error) {
	at := slices.IndexFunc(members, func(m json.RawMessage) bool { return textField(m, "member_id") == id })
	switch {
	case gone && at < 0:
		return members, nil
	case gone:
		return slices.Delete(slices.Clone(members), at, at+1), nil
	}
	var before json.RawMessage
	if at >= 0 {
		before = members[at]
	}
	now, err := merged(before, payload)
	if err != nil {
		return nil, err
	}
	if now, err = without(now, "session_id"); err != nil {
		return nil, err
	}
	if at < 0 {
		return append(slices.Clone(members), now), nil
	}
	members = slices.Clone(members)
	members[at] = now
	return members, nil
}

// without is an object that lacks some fields.
func without(object json.RawMessage, names ...string) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, err
	}
	for _, name := range names {
		delete(fields, name)
	}
	return encode(fields)
}
