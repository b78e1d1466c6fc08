package event

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Requests of the model (S1, request_begin and request_end; S1 token_usage is the usage of an end). Each attempt is a request of its own.
type (
	// RequestBeginPayload is of run.agent.request_begin.
	RequestBeginPayload struct {
		RequestID string   `json:"request_id"` // unique within the run; the end names it
		AgentID   SubAgent `json:"agent_id,omitempty"`
		Model     string   `json:"model,omitempty"`
		Attempt   int      `json:"attempt,omitempty"` // which attempt of its sequence it is, from 1
	}
	// RequestEndPayload is of run.agent.request_end. A completed one commits what the model said in it.
	RequestEndPayload struct {
		RequestID    string          `json:"request_id"`
		AgentID      SubAgent        `json:"agent_id,omitempty"`
		Status       RequestStatus   `json:"status" oneof:"completed,failed,aborted,timeout,malformed,auth"`
		Model        string          `json:"model,omitempty"`         // as the provider names it
		ErrorMessage string          `json:"error_message,omitempty"` // why, of a status other than completed
		Attempt      int             `json:"attempt,omitempty"`       // from 1; left out where the first attempt succeeds
		RetryInMS    *int64          `json:"retry_in_ms,omitempty"`   // milliseconds until the next attempt, where one is planned; 0 is at once
		Usage        json.RawMessage `json:"usage,omitempty"`         // of this request alone, in the names of S4
	}
)

// RequestStatus is how a request of the model ended: one of the six stop reasons of S1.
type RequestStatus string

// The six.
const (
	RequestCompleted RequestStatus = "completed"
	RequestFailed    RequestStatus = "failed"
	RequestAborted   RequestStatus = "aborted"
	RequestTimeout   RequestStatus = "timeout"
	RequestMalformed RequestStatus = "malformed"
	RequestAuth      RequestStatus = "auth"
)

// Retried says whether a request that ended so may be made again within the run.
func (s RequestStatus) Retried() bool {
	return s == RequestFailed || s == RequestTimeout || s == RequestMalformed
}

func (p RequestBeginPayload) breach(given keys) error { return attemptBreach(p.Attempt, given) }

func (p RequestEndPayload) breach(given keys) error {
	switch {
	case p.Status == RequestCompleted && p.ErrorMessage != "":
		return errors.New("error_message says what went wrong where nothing did")
	case p.Status == RequestCompleted && p.Attempt == 1:
		return errors.New("attempt is left out where the first attempt succeeds")
	case p.RetryInMS != nil && !p.Status.Retried():
		return fmt.Errorf("retry_in_ms is there although %s is not tried again", p.Status)
	case p.RetryInMS != nil && *p.RetryInMS < 0:
		return errors.New("retry_in_ms is less than 0")
	}
	return attemptBreach(p.Attempt, given)
}

func attemptBreach(attempt int, given keys) error {
	if attempt < 1 && !missing(given["attempt"]) {
		return errors.New("attempt counts from 1")
	}
	return nil
}
