package client

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
)

// presence is the one record that hubs do not keep: how friends stand, the last that was told of each.
const presence = "presence"

// Online returns the friends who are online by what was told last, in the order of their ids. Without a connection that is what was true before.
func (r *Reducer) Online() []UserID {
	var online []UserID
	for _, p := range recordsOf[PresencePayload](r, presence) {
		if p.Online {
			online = append(online, p.UserID)
		}
	}
	return online
}

// listed returns the field of a payload that lists the records of a kind; nil if it is not there.
func (r rule) listed(payload json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(payload, &fields) != nil {
		return nil
	}
	return fields[r.key[0]]
}

// replace makes the records of a kind those that a payload lists.
func (r *Reducer) replace(rule rule, payload json.RawMessage) Verdict {
	var items []json.RawMessage
	if list := rule.listed(payload); json.Unmarshal(list, &items) != nil || items == nil {
		return Ignored
	}
	after := map[string]json.RawMessage{}
	for _, item := range items {
		parts, err := keyFields(item, []string{rule.of})
		if err != nil {
			return Ignored
		}
		after[recordKey(rule.record, parts...)] = bytes.Clone(item)
	}
	before := r.kind(rule.record)
	if maps.EqualFunc(before, after, same) {
		return Repeated
	}
	for key := range before {
		delete(r.records, key)
	}
	maps.Copy(r.records, after)
	return Applied
}

// kind returns the records of a kind.
func (r *Reducer) kind(record string) map[string]json.RawMessage {
	found := map[string]json.RawMessage{}
	for key, payload := range r.records {
		if strings.HasPrefix(key, record+" ") {
			found[key] = payload
		}
	}
	return found
}

// connected says that a connection begins: versions of presence are those of the hub that tells them, and the next one may be another.
func (r *Reducer) connected() {
	for key, payload := range r.kind(presence) {
		if left, err := without(payload, "version"); err == nil {
			r.records[key] = left
		}
	}
}
