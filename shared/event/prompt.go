package event

import (
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// PromptKind says what a prompt is about.
type PromptKind string

// PromptPermission asks whether a tool may be used.
const PromptPermission PromptKind = "permission"

// Decision is the answer to a request for permission.
type Decision string

// Decisions.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
)

// Decider says who answers a prompt.
type Decider string

// Deciders.
const (
	Person Decider = "person"
	Policy Decider = "policy" // a rule that a person set up: the policy of the profile, or a grant
	Bridge Decider = "bridge" // the edge itself, for an agent that asks beyond measure
)

// PolicyGrant is the policy of an answer that repeats one a person gave to the same request before, once.
const PolicyGrant = "grant"

// EndReason says why an agent process has ended though its run has not.
type EndReason string

// Reasons for the end of a process whose run goes on.
const (
	EndedAtTurnLimit EndReason = "turn_limit"   // the limit of S4's timeout_secs
	EndedWithEdge    EndReason = "edge_stopped" // the edge was shut down
	EndedUnseen      EndReason = "process_lost" // a signal ended it, or the edge came back without it
)

// Code is how a run is said to have failed whose process ended so.
func (r EndReason) Code() fault.Code {
	switch r {
	case EndedWithEdge:
		return fault.EdgeStopped
	case EndedUnseen:
		return fault.ProcessLost
	}
	return fault.Timeout
}

// Payloads of a run's prompts.
type (
	PromptRequestedPayload struct {
		RequestID      id.Request      `json:"request_id"` // unique for ever
		Kind           PromptKind      `json:"kind"`
		ToolName       string          `json:"tool_name"`
		Input          json.RawMessage `json:"input"`                // an object; {} when it is in InputBlob
		InputBlob      *BlobRef        `json:"input_blob,omitempty"` // stands for Input when it is large
		Description    string          `json:"description,omitempty"`
		ToolCallID     string          `json:"tool_call_id,omitempty"`
		AgentRequestID string          `json:"agent_request_id"` // the agent's own, unique within its turn
		Digest         string          `json:"digest"`           // PromptDigest of what is shown
		Asks           Decider         `json:"asks"`             // person | policy
	}
	PromptAnsweredPayload struct {
		RequestID    id.Request      `json:"request_id"`
		Decision     Decision        `json:"decision"`
		By           Decider         `json:"by"`
		Policy       string          `json:"policy,omitempty"`    // by policy: which
		UserID       id.User         `json:"user_id,omitempty"`   // by a person: who
		DeviceID     id.Device       `json:"device_id,omitempty"` // by a person: from where
		Reason       string          `json:"reason,omitempty"`
		UpdatedInput json.RawMessage `json:"updated_input,omitempty"` // with allow: what to use instead of the input
	}
	PromptDeliveredPayload struct {
		RequestID id.Request `json:"request_id"`
		Decision  Decision   `json:"decision"`
	}
	ProcessEndedPayload struct {
		Reason  EndReason    `json:"reason"`
		Code    fault.Code   `json:"code"`
		Pending []id.Request `json:"pending"` // requests to people of which the agent is not known to have got the answer
	}
)

// PromptDigest is what an approval is bound to: the hex SHA-256 of the canonical JSON of the tool's name and its whole input.
func PromptDigest(toolName string, input json.RawMessage) (string, error) {
	shown, err := Encode(struct {
		ToolName string          `json:"tool_name"`
		Input    json.RawMessage `json:"input"`
	}{toolName, input})
	if err != nil {
		return "", fmt.Errorf("digest of a prompt: %w", err)
	}
	return Checksum(shown)
}
