package chat

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/switchyard-dev/switchyard/edge-server/internal/retry"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// errCutOff is an answer whose stream ended in good order, and too early.
var errCutOff = errors.New("the answer has no end")

// endingOf says how a request ended (S1, stop_reason).
func endingOf(err error, now time.Time) retry.Ending {
	var refusal *openai.Error
	var network net.Error
	var said *ssestream.StreamError
	switch {
	case err == nil:
		return retry.Ending{Reason: omni.Completed}
	case errors.As(err, &refusal):
		return endingOfRefusal(refusal, now)
	case errors.Is(err, errSilent):
		return retry.Ending{Reason: omni.Timeout}
	case errors.Is(err, context.Canceled):
		return retry.Ending{Reason: omni.Aborted}
	case errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF):
		return retry.Ending{Reason: omni.Timeout}
	case errors.As(err, &said):
		return retry.Ending{Reason: omni.Failed}
	}
	return retry.Ending{Reason: omni.Malformed}
}

// endingOfRefusal reads a status that is none of success. A quota for the moment is a timeout (S1); what the endpoint finds wrong with the request
// itself stays wrong.
func endingOfRefusal(refusal *openai.Error, now time.Time) retry.Ending {
	ending := retry.Ending{Reason: omni.Failed, Asked: asked(refusal.Response, now)}
	switch status := refusal.StatusCode; {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		ending.Reason = omni.Auth
	case refusal.Code == codeTooLong, refusal.Code == codeNoCredit:
		ending.Permanent = true
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		ending.Reason = omni.Timeout
	case status == http.StatusConflict, status == http.StatusTooEarly:
	default:
		ending.Permanent = status < http.StatusInternalServerError
	}
	if again, err := strconv.ParseBool(header(refusal.Response, "X-Should-Retry")); err == nil {
		ending.Permanent = !again
	}
	return ending
}

// asked is how long the endpoint wants to be left alone.
func asked(response *http.Response, now time.Time) time.Duration {
	if ms, err := strconv.ParseUint(header(response, "Retry-After-Ms"), 10, 31); err == nil {
		return time.Duration(ms) * time.Millisecond //nolint:gosec // 31 bits
	}
	return retry.After(header(response, "Retry-After"), now)
}

func header(response *http.Response, name string) string {
	if response == nil {
		return ""
	}
	return response.Header.Get(name)
}
