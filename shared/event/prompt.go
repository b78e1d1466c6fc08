package event

import (
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Decider says who answers a prompt.
type Decider string

// Deciders.
const (
	Person Decider = "person"
	Policy Decider = "policy" // a rule that a person set up: the policy of the profile, or a grant
	Bridge Decider = "bridge" // the edge itself, for an agent that asks beyond measure
	Client Decider = "client" // the client that carries out a tool: no person is asked
)

// What an agent is told of a no without a reason, and what is said of a call that was not allowed.
const (
	DeniedByPerson = "A person denied the request."
	DeniedByRule   = "A rule denied the request."
	NobodyAnswered = "Nobody answered in time."
)

// PolicyGrant is the policy of an answer that repeats one a person gave to the same request before, once.
const PolicyGrant = "grant"

// PolicyOfMode is the policy of an answer that the approval mode of the person gave whose run it is.
func PolicyOfMode(mode string) string { return "mode:" + mode }

// ExpiryReason says why the waiting for an answer has ended without one.
type ExpiryReason string

// Reasons for an expiry.
const (
	ExpiredByLimit ExpiryReason = "timeout" // the prompt's own timeout_ms
	ExpiredByAge   ExpiryReason = "ttl"     // as old as the hub lets any prompt become
)

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

// Payloads of a run's prompts. A permission and a call of a client's tool have a tool's name and input, every other kind has Inner.
type (
	PromptRequestedPayload struct {
		RequestID      id.Request      `json:"request_id"` // unique for ever
		Kind           PromptKind      `json:"kind"`
		ToolName       string          `json:"tool_name,omitempty"`
		Input          json.RawMessage `json:"input,omitempty"`      // an object; {} when it is in InputBlob
		InputBlob      *BlobRef        `json:"input_blob,omitempty"` // stands for Input when it is large
		Inner          json.RawMessage `json:"inner,omitempty"`      // a Question, PlanReview or StepDecision
		Description    string          `json:"description,omitempty"`
		ToolCallID     string          `json:"tool_call_id,omitempty"`
		AgentRequestID string          `json:"agent_request_id,omitempty"` // the agent's own, unique within its turn; none when the hub asks
		Digest         string          `json:"digest"`                     // PromptDigest or InnerDigest of what is shown
		Asks           Decider         `json:"asks"`                       // person | policy | client
		TimeoutMS      int64           `json:"timeout_ms,omitempty"`       // how long it waits for an answer; absent for no limit
		AgentID        SubAgent        `json:"agent_id,omitempty"`
	}
	PromptAnsweredPayload struct {
		RequestID    id.Request      `json:"request_id"`
		Kind         PromptKind      `json:"kind,omitempty"` // absent for a permission
		Decision     Decision        `json:"decision"`
		By           Decider         `json:"by"`
		Policy       string          `json:"policy,omitempty"`    // by policy: which
		UserID       id.User         `json:"user_id,omitempty"`   // by a person or a client: whose
		DeviceID     id.Device       `json:"device_id,omitempty"` // by a person or a client: from where
		Reason       string          `json:"reason,omitempty"`
		UpdatedInput json.RawMessage `json:"updated_input,omitempty"` // with allow: what to use instead of the input
		Response     json.RawMessage `json:"response,omitempty"`      // a QuestionResponse, PlanResponse or ClientToolResponse
	}
	PromptExpiredPayload struct {
		RequestID id.Request   `json:"request_id"`
		Kind      PromptKind   `json:"kind,omitempty"` // absent for a permission
		Reason    ExpiryReason `json:"reason"`
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

// InnerDigest is PromptDigest for the other kinds: of the kind and all that is asked.
func InnerDigest(kind PromptKind, inner json.RawMessage) (string, error) {
	shown, err := Encode(struct {
		Kind  PromptKind      `json:"kind"`
		Inner json.RawMessage `json:"inner"`
	}{kind, inner})
	if err != nil {
		return "", fmt.Errorf("digest of a prompt: %w", err)
	}
	return Checksum(shown)
}
