package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// ProblemError is an RFC 9457 answer of the hub: Code for programs, Detail for people.
type ProblemError struct {
	Problem
}

func (e *ProblemError) Error() string {
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

// problemOf reads an answer that is not 2xx. What is no problem document, from a proxy say, becomes one.
func problemOf(resp *http.Response, body []byte) error {
	var p Problem
	if err := json.Unmarshal(body, &p); err != nil || p.Code == "" {
		p = Problem{Code: "unexpected", Detail: "The hub's address answered with " + resp.Status + ", which is not an answer of a hub. Check the address.", Status: resp.StatusCode}
	}
	return &ProblemError{p}
}
