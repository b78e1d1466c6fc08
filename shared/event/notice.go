package event

// Topics of a notice that the hub or an adapter says; agents may say others (S0 §10.9).
const (
	TopicEdgeOffline     = "edge_offline"
	TopicRuntimeDegraded = "runtime_degraded"
	TopicAuthExpired     = "auth_expired"
	TopicModeRefused     = "approval_mode_refused" // the edge of a run does not do what a person has chosen for its permissions
)

// AuthExpired is the status of a runtime whose login has to be made again by a person.
const AuthExpired = "expired"

// AuthOK is that of one whose login works.
const AuthOK = "ok"

// What concerns a whole conversation.
type (
	// NoticePayload is of run.notice, which the hub says, and of run.agent.notice. Topic is for programs: lower case words with _ between them.
	NoticePayload struct {
		Topic      string   `json:"topic"`
		AgentID    SubAgent `json:"agent_id,omitempty"`
		Summary    string   `json:"summary"`
		ActionHint string   `json:"action_hint,omitempty"` // what a person can do about it; lines and bullets stay
	}
	AuthStatusPayload struct {
		Status     string `json:"status"` // AuthExpired, AuthOK, or another word of the runtime
		Summary    string `json:"summary,omitempty"`
		ActionHint string `json:"action_hint,omitempty"`
	}
	// CardOrphanedPayload says that nothing was heard of a card for longer than its kind may be silent (S0 watchdog).
	CardOrphanedPayload struct {
		CardID    string `json:"card_id"`
		CardKind  string `json:"card_kind"`
		TimeoutMS int64  `json:"timeout_ms"`
	}
)
