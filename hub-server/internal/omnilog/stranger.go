package omnilog

import "github.com/switchyard-dev/switchyard/shared/omni"

// HasPaths says whether a message has paths of the machine that only its owner sees (ruling R18): those of a session_meta.
func HasPaths(m omni.Message) bool {
	meta, ok := metaOf(m)
	return ok && (meta.Workspace != "" || meta.AgentState != "")
}

// WithoutPaths is a message as people have it who do not own the machine that it is from.
func WithoutPaths(m omni.Message) (omni.Message, error) {
	meta, ok := metaOf(m)
	if !ok {
		return m, nil
	}
	meta.Workspace, meta.AgentState = "", ""
	shown, err := omni.New(m.Time(), meta)
	origin := m.Origin()
	for i := len(origin) - 1; err == nil && i >= 0; i-- {
		shown, err = shown.WithOrigin(origin[i])
	}
	return shown, err
}

func metaOf(m omni.Message) (meta omni.SessionMetaPayload, ok bool) {
	if !m.IsSessionMeta() {
		return meta, false
	}
	body, err := m.Body()
	if err != nil {
		return meta, false
	}
	meta, ok = body.(omni.SessionMetaPayload)
	return meta, ok
}
