package event

import (
	"errors"
	"fmt"
)

// A compaction that an agent tells as it happens (S1, compaction_begin and compaction_end): what its model says between the two is the summary,
// with which the new context begins. Agents that only know that one has happened say run.agent.compact_boundary.
type (
	CompactionBeginPayload struct {
		AgentID SubAgent         `json:"agent_id,omitempty"`
		Reason  CompactionReason `json:"reason" oneof:"context,turns,manual"`
		Mode    CompactionMode   `json:"mode" oneof:"summarize,discard"`
		Context int64            `json:"context,omitempty"` // tokens in the context
		Turns   int64            `json:"turns,omitempty"`   // turns so far
	}
	// CompactionEndPayload has the words of the begin. Of one that is made again the retry fields are as in RequestEndPayload.
	CompactionEndPayload struct {
		AgentID      SubAgent         `json:"agent_id,omitempty"`
		Reason       CompactionReason `json:"reason" oneof:"context,turns,manual"`
		Mode         CompactionMode   `json:"mode" oneof:"summarize,discard"`
		Status       RequestStatus    `json:"status" oneof:"completed,failed,aborted,timeout,malformed,auth"`
		ErrorMessage string           `json:"error_message,omitempty"`
		Attempt      int              `json:"attempt,omitempty"`
		RetryInMS    *int64           `json:"retry_in_ms,omitempty"`
	}
)

// CompactionReason is why a context is made smaller, in the words of S1.
type CompactionReason string

// The three reasons.
const (
	CompactedForContext CompactionReason = "context"
	CompactedForTurns   CompactionReason = "turns"
	CompactedByHand     CompactionReason = "manual"
)

// CompactionMode is what becomes of the old context, in the words of S1.
type CompactionMode string

// The two modes.
const (
	CompactionSummarize CompactionMode = "summarize"
	CompactionDiscard   CompactionMode = "discard"
)

func (p CompactionBeginPayload) breach(keys) error {
	if p.Context < 0 || p.Turns < 0 {
		return errors.New("context or turns is less than 0")
	}
	return nil
}

func (p CompactionEndPayload) breach(given keys) error {
	err := RequestEndPayload{Status: p.Status, ErrorMessage: p.ErrorMessage, Attempt: p.Attempt, RetryInMS: p.RetryInMS}.breach(given)
	if err != nil {
		return fmt.Errorf("compaction: %w", err)
	}
	return nil
}
