package admission

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// AgentSession is the agent's own name for a conversation (S4 session_id): opaque, owned by the agent.
type AgentSession string

const maxAgentSession = 1024 // bytes

// agentSession reads the name out of the payload of a session_init fact; "" if there is none that could be handed back.
func agentSession(payload any) AgentSession {
	encoded, err := event.Encode(payload)
	if err != nil {
		return ""
	}
	var p event.SessionInitPayload
	if err := json.Unmarshal(encoded, &p); err != nil {
		return ""
	}
	name := p.AgentSessionID
	if len(name) > maxAgentSession || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return ""
	}
	return AgentSession(strings.TrimSpace(name))
}
