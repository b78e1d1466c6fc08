package wire

import "slices"

// Manner is how the person wants an agent to go about a turn (S0 §9.1). What is "" is the agent's to choose.
type Manner struct {
	CoordinatorMode  string `json:"coordinator_mode,omitempty"`  // react | plan
	PlanConfirmation string `json:"plan_confirmation,omitempty"` // auto | required
}

// Known returns the manner without words that are none.
func (m Manner) Known() Manner {
	if !slices.Contains([]string{"react", "plan"}, m.CoordinatorMode) {
		m.CoordinatorMode = ""
	}
	if !slices.Contains([]string{"auto", "required"}, m.PlanConfirmation) {
		m.PlanConfirmation = ""
	}
	return m
}
