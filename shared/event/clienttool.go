package event

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ClientToolResponse is what a client answers to a call of its tool (S0 §9.4 tool.result): the response of a prompt of kind client_tool.
type ClientToolResponse struct {
	Status   ClientToolStatus `json:"status"`
	Output   json.RawMessage  `json:"output,omitempty"`   // any value
	Error    *ErrorObj        `json:"error,omitempty"`    // of a failed call
	Metadata json.RawMessage  `json:"metadata,omitempty"` // an object: how to show the output
}

// ClientToolStatus is how a call has ended at the client.
type ClientToolStatus string

// The ends of a call.
const (
	ClientToolOK        ClientToolStatus = "ok"
	ClientToolFailed    ClientToolStatus = "failed"
	ClientToolCancelled ClientToolStatus = "cancelled"
)

// Decision is the decision that goes with the status.
func (s ClientToolStatus) Decision() Decision {
	if s == ClientToolOK {
		return Allow
	}
	return Deny
}

// MaxClientToolResponse is how many bytes a ClientToolResponse has at most, as json.Marshal writes it into a command: <, > and & count six.
const MaxClientToolResponse = 256 << 10

// Check says what is wrong with the answer of a client.
func (r ClientToolResponse) Check() error {
	switch r.Status {
	case ClientToolOK, ClientToolFailed, ClientToolCancelled:
	default:
		return fmt.Errorf("status %.32q is not ok, failed or cancelled", r.Status)
	}
	if r.Error != nil && r.Status != ClientToolFailed {
		return errors.New("error belongs to status failed")
	}
	if len(r.Metadata) > 0 && !isObject(r.Metadata) {
		return errors.New("metadata is not an object")
	}
	if max(Depth(r.Output), Depth(r.Metadata)) > MaxValueDepth-1 {
		return fmt.Errorf("nested deeper than %d", MaxValueDepth-1)
	}
	encoded, err := json.Marshal(r)
	if err != nil {
		return errors.New("output is not JSON")
	}
	if len(encoded) > MaxClientToolResponse {
		return fmt.Errorf("more than %d bytes", MaxClientToolResponse)
	}
	return nil
}

func checkClientTool(d Decision, response json.RawMessage) error {
	var said ClientToolResponse
	if err := strictly(response, &said); err != nil {
		return err
	}
	if said.Status.Decision() != d {
		return fmt.Errorf("status %.32q does not go with %s", said.Status, d)
	}
	return said.Check()
}

func isObject(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object != nil
}
