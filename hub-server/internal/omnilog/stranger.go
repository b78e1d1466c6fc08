package omnilog

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// HasPaths says whether a message may have paths of the machine that only its owner sees (ruling R18): a session_meta has them, unless it is known that
// it has none.
func HasPaths(m omni.Message) bool {
	if !m.IsSessionMeta() {
		return false
	}
	meta, readable := metaOf(m)
	return !readable || meta.Workspace != "" || meta.AgentState != ""
}

// WithoutPaths is a message as people have it who do not own the machine that it is from.
func WithoutPaths(m omni.Message) (omni.Message, error) {
	if !HasPaths(m) {
		return m, nil
	}
	meta, readable := metaOf(m)
	if !readable {
		return cut(m)
	}
	meta.Workspace, meta.AgentState = "", ""
	shown, err := omni.New(m.Time(), meta)
	origin := m.Origin()
	for i := len(origin) - 1; err == nil && i >= 0; i-- {
		shown, err = shown.WithOrigin(origin[i])
	}
	return shown, err
}

func metaOf(m omni.Message) (meta omni.SessionMetaPayload, readable bool) {
	body, err := m.Body()
	if err != nil {
		return meta, false
	}
	meta, readable = body.(omni.SessionMetaPayload)
	return meta, readable
}

// cut empties the paths in a message that is not as S1 has it: of any kind, and however often they are there.
func cut(m omni.Message) (omni.Message, error) {
	var fields, payload map[string]json.RawMessage
	err := json.Unmarshal(m.Bytes(), &fields)
	if err == nil {
		err = json.Unmarshal(m.Payload(), &payload)
	}
	if err != nil {
		return omni.Message{}, err
	}
	payload["workspace"], payload["agent_state"] = json.RawMessage(`""`), json.RawMessage(`""`)
	if fields["payload"], err = event.Encode(payload); err != nil {
		return omni.Message{}, err
	}
	line, err := event.Encode(fields)
	if err != nil {
		return omni.Message{}, err
	}
	return omni.Decode(line)
}
