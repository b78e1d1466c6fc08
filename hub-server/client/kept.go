package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
)

// Resources as they came: a snapshot tells fields that this client does not know, as frames do.
type (
	keptMessage struct {
		Message
		raw json.RawMessage
	}
	keptPrompt struct {
		Prompt
		raw json.RawMessage
	}
	keptSession struct {
		Session
		raw json.RawMessage
	}
	keptList[T any, N int64 | string] struct {
		Items      []T
		Next       N
		LastChange ChangeSeq // of messages
	}
)

// errForeign says that an answer is JSON, but not what was asked for: some other program has given it. Taken for an empty one, it would make a client
// forget what it has.
var errForeign = errors.New("an answer that is not of a hub")

// list reads a page.
func list[T any, N int64 | string](resp *http.Response, err error) (keptList[T, N], error) {
	page, err := Decode[struct {
		Items      json.RawMessage `json:"items"`
		Next       N               `json:"next"`
		LastChange ChangeSeq       `json:"last_change"`
	}](resp, err)
	if err := meant(err, page.Items != nil); err != nil {
		return keptList[T, N]{}, err
	}
	all := keptList[T, N]{Next: page.Next, LastChange: page.LastChange}
	return all, json.Unmarshal(page.Items, &all.Items)
}

// meant is err, or that an answer is not what was asked for.
func meant(err error, so bool) error {
	if err == nil && !so {
		return errForeign
	}
	return err
}

func (m *keptMessage) UnmarshalJSON(raw []byte) error {
	m.raw = bytes.Clone(raw)
	return json.Unmarshal(raw, &m.Message)
}

func (p *keptPrompt) UnmarshalJSON(raw []byte) error {
	p.raw = bytes.Clone(raw)
	return json.Unmarshal(raw, &p.Prompt)
}

func (s *keptSession) UnmarshalJSON(raw []byte) error {
	s.raw = bytes.Clone(raw)
	return json.Unmarshal(raw, &s.Session)
}

// created is the payload of the session.created frame that would have told of it.
func (s *keptSession) created() (json.RawMessage, error) {
	fields, err := s.about("type", "name", "avatar_url", "announcement", "info_version", "owner_id", "members", "created_at",
		"pinned", "archived", "muted", "settings_version")
	if err != nil {
		return nil, err
	}
	return encode(fields)
}

// reading is the payload of the message.read frame that would have told of how far a user has read.
func (s *keptSession) reading(user UserID) (json.RawMessage, error) {
	fields, err := s.about("last_read_seq", "last_seq", "last_change", "unread")
	if err != nil {
		return nil, err
	}
	if fields["user_id"], err = encode(user); err != nil {
		return nil, err
	}
	return encode(fields)
}

// about returns the id and some fields of a conversation, as far as they are there.
func (s *keptSession) about(names ...string) (map[string]json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(s.raw, &all); err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{"session_id": all["id"]}
	for _, name := range names {
		if value, ok := all[name]; ok {
			fields[name] = value
		}
	}
	return fields, nil
}
