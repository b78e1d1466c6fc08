package wire

import (
	"bytes"
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Answer is the body of an answer: what a person said to a prompt of the run, or a client to a call, or NoAnswer when the time for it is over.
type Answer struct {
	RequestID id.Request `json:"request_id"`
	// Kind is client_tool for what a client answers to a call of its tool, absent for what people answer: the bounds are others.
	Kind         event.PromptKind `json:"kind,omitempty"`
	Decision     event.Decision   `json:"decision"`
	Reason       string           `json:"reason,omitempty"`
	UpdatedInput json.RawMessage  `json:"updated_input,omitempty"` // with allow only: an object that replaces the tool's input
	Response     json.RawMessage  `json:"response,omitempty"`      // of other kinds than a permission: what comes beside the decision
	Digest       string           `json:"digest"`                  // of the request that was shown
	UserID       id.User          `json:"user_id,omitempty"`
}

// Continues names the run whose process was ended while it waited for a person. RequestID and Decision are of the last answer.
type Continues struct {
	RunID     id.Run         `json:"run_id"`
	RequestID id.Request     `json:"request_id"`
	Decision  event.Decision `json:"decision"`
	Grants    []Grant        `json:"grants,omitempty"`
}

// Grant answers the same request once more without asking: the one with the same digest.
type Grant struct {
	RequestID    id.Request      `json:"request_id"` // the one that a person answered
	Digest       string          `json:"digest"`
	Decision     event.Decision  `json:"decision,omitempty"` // absent for allow
	UpdatedInput json.RawMessage `json:"updated_input,omitempty"`
	Response     json.RawMessage `json:"response,omitempty"`
}

// Grants returns what the run may use without asking.
func (d Dispatch) Grants() []Grant {
	if d.Continues == nil {
		return nil
	}
	return d.Continues.Grants
}

// Bounds of an answer, in bytes.
const (
	MaxReason       = 4 << 10
	MaxUpdatedInput = 128 << 10
	MaxResponse     = 128 << 10
)

// Check says what is wrong with an answer whatever it answers, as a fault for the one who gave it. Whether it fits the prompt is asked with
// event.CheckResponse.
func (a Answer) Check() error {
	switch a.Decision {
	case event.Allow, event.Deny, event.GoOn, event.TryAgain, event.GiveUp, event.NoAnswer:
	default:
		return fault.New(fault.InvalidRequest, "The decision is none that there is.")
	}
	switch {
	case len(a.Reason) > MaxReason:
		return fault.New(fault.TooLarge, "The reason has more than %d bytes.", MaxReason)
	case len(a.UpdatedInput) > 0 && a.Decision != event.Allow:
		return fault.New(fault.InvalidRequest, "Only an allowed request can have its input changed.")
	}
	if err := checkObject("changed input", a.UpdatedInput, MaxUpdatedInput); err != nil {
		return err
	}
	return checkObject("response", a.Response, a.maxResponse())
}

func (a Answer) maxResponse() int {
	if a.Kind == event.PromptClientTool {
		return event.MaxClientToolResponse
	}
	return MaxResponse
}

func checkObject(what string, value json.RawMessage, limit int) error {
	switch {
	case len(value) == 0:
		return nil
	case len(value) > limit:
		return fault.New(fault.TooLarge, "The %s has more than %d bytes.", what, limit)
	case !json.Valid(value) || !bytes.HasPrefix(bytes.TrimSpace(value), []byte("{")):
		return fault.New(fault.InvalidRequest, "The %s must be a JSON object.", what)
	case event.Depth(value) > event.MaxValueDepth:
		return fault.New(fault.InvalidRequest, "The %s nests deeper than %d.", what, event.MaxValueDepth)
	}
	return nil
}
