package wire

import (
	"bytes"
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Answer is the body of an answer: what a person said to a prompt of the run.
type Answer struct {
	RequestID    id.Request      `json:"request_id"`
	Decision     event.Decision  `json:"decision"`
	Reason       string          `json:"reason,omitempty"`
	UpdatedInput json.RawMessage `json:"updated_input,omitempty"` // with allow only: an object that replaces the tool's input
	Digest       string          `json:"digest"`                  // of the request that the person saw
	UserID       id.User         `json:"user_id,omitempty"`
}

// Continues names the run whose process was ended while it waited for a person. RequestID and Decision are of the last answer.
type Continues struct {
	RunID     id.Run         `json:"run_id"`
	RequestID id.Request     `json:"request_id"`
	Decision  event.Decision `json:"decision"`
	Grants    []Grant        `json:"grants,omitempty"`
}

// Grant allows the same request once more without asking: the one with the same digest.
type Grant struct {
	RequestID    id.Request      `json:"request_id"` // the one that a person allowed
	Digest       string          `json:"digest"`
	UpdatedInput json.RawMessage `json:"updated_input,omitempty"`
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
)

// Check says what is wrong with an answer, as a fault for the one who gave it.
func (a Answer) Check() error {
	switch {
	case a.Decision != event.Allow && a.Decision != event.Deny:
		return fault.New(fault.InvalidRequest, "The decision must be allow or deny.")
	case len(a.Reason) > MaxReason:
		return fault.New(fault.TooLarge, "The reason has more than %d bytes.", MaxReason)
	case len(a.UpdatedInput) > 0 && a.Decision != event.Allow:
		return fault.New(fault.InvalidRequest, "Only an allowed request can have its input changed.")
	}
	return checkUpdatedInput(a.UpdatedInput)
}

func checkUpdatedInput(input json.RawMessage) error {
	switch {
	case len(input) == 0:
		return nil
	case len(input) > MaxUpdatedInput:
		return fault.New(fault.TooLarge, "The changed input has more than %d bytes.", MaxUpdatedInput)
	case !json.Valid(input) || !bytes.HasPrefix(bytes.TrimSpace(input), []byte("{")):
		return fault.New(fault.InvalidRequest, "The changed input must be a JSON object.")
	case event.Depth(input) > event.MaxValueDepth:
		return fault.New(fault.InvalidRequest, "The changed input nests deeper than %d.", event.MaxValueDepth)
	}
	return nil
}
