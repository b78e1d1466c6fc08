package card

// ErrorType is what kind of failure it is; a reader takes one that it does not know as Internal (S0 §12, facts 0.2).
type ErrorType string

// The types of failures.
const (
	ToolTimeout         ErrorType = "tool_timeout"
	OrphanTimeout       ErrorType = "orphan_timeout"
	RateLimit           ErrorType = "rate_limit"
	Overloaded          ErrorType = "overloaded"
	ContractFail        ErrorType = "contract_fail"
	DependencyFail      ErrorType = "dependency_fail"
	UserAborted         ErrorType = "user_aborted"
	PermissionDenied    ErrorType = "permission_denied"
	MaxTurns            ErrorType = "max_turns"
	ContextExceeded     ErrorType = "context_exceeded"
	ModelError          ErrorType = "model_error"
	BudgetExhausted     ErrorType = "budget_exhausted"
	InvalidInput        ErrorType = "invalid_input"
	Internal            ErrorType = "internal"
	UnsupportedModality ErrorType = "unsupported_modality" // newer than the seed (facts 0.2)
)

// ErrorInfo is the one form of failures: of a closed card or a session (S0 §12).
type ErrorInfo struct {
	Type         ErrorType      `json:"type"`
	Code         string         `json:"code,omitempty"`         // for machines, free
	Message      string         `json:"message"`                // for developers
	UserMessage  string         `json:"user_message,omitempty"` // for the person
	Retryable    bool           `json:"retryable"`
	RetryAfterMS int64          `json:"retry_after_ms,omitempty"`
	Recovery     *Recovery      `json:"recovery,omitempty"`
	Details      map[string]any `json:"details,omitempty"`
}

// Recovery is what happens instead of what failed.
type Recovery struct {
	Action     string `json:"action"` // retry | fallback | abort
	NextCardID string `json:"next_card_id,omitempty"`
}
