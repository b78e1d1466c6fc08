package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// ProblemUnexpected is the code of an answer that no hub gave: a proxy's page, or some other program at that address.
const ProblemUnexpected ProblemCode = "unexpected"

// ProblemError is an RFC 9457 answer of the hub: Code for programs, Detail for people.
type ProblemError struct {
	Problem
	RetryAfter time.Duration // how long the hub asks to be left alone; 0 if it does not say
}

func (e *ProblemError) Error() string {
	if e.TraceID == "" {
		return fmt.Sprintf("%s (%s)", e.Detail, e.Code)
	}
	return fmt.Sprintf("%s (%s, trace %s)", e.Detail, e.Code, e.TraceID)
}

// CodeOf returns the code of the hub's refusal in err's chain, or "".
func CodeOf(err error) ProblemCode {
	var p *ProblemError
	if errors.As(err, &p) {
		return p.Code
	}
	return ""
}

// asProblem returns the hub's refusal in err's chain, or nil.
func asProblem(err error) *ProblemError {
	var p *ProblemError
	errors.As(err, &p)
	return p
}

// problemOf reads an answer that is not 2xx. What is no problem document becomes one.
func problemOf(resp *http.Response, body []byte) error {
	var p Problem
	if err := json.Unmarshal(body, &p); err != nil || p.Code == "" {
		p = Problem{Code: ProblemUnexpected, Detail: unexpected(resp)}
	}
	p.Status = resp.StatusCode
	return &ProblemError{Problem: p, RetryAfter: retryAfter(resp.Header)}
}

func unexpected(resp *http.Response) string {
	if to, err := resp.Location(); err == nil {
		return fmt.Sprintf("The address leads to %s://%s, where the login is not sent. If the hub is there, use that address.", to.Scheme, to.Host)
	}
	return "The address answered with " + resp.Status + ", which is not an answer of a hub. Check the address."
}

// maxRetrySeconds bounds what a hub may ask for: one that restarts or is busy asks for seconds.
const maxRetrySeconds = 300

// retryAfter reads the header in its form of seconds, the only one that a hub uses.
func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, maxRetrySeconds)) * time.Second
}
