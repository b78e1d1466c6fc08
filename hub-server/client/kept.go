package client

import (
	"bytes"
	"encoding/json"
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
		Items []T `json:"items"`
		Next  N   `json:"next"`
	}
)

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
	var all map[string]json.RawMessage
	if err := json.Unmarshal(s.raw, &all); err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	for _, name := range []string{"id", "type", "name", "owner_id", "members"} {
		if value, ok := all[name]; ok {
			fields[name] = value
		}
	}
	fields["session_id"] = fields["id"]
	delete(fields, "id")
	return encode(fields)
}
