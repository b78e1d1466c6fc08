package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// statuses is the one table of which HTTP status a code is answered with. Codes that never reach a client are absent: they are answered as
// internal.
var statuses = map[fault.Code]int{
	fault.InvalidRequest:       http.StatusBadRequest,
	fault.InvalidJSON:          http.StatusBadRequest,
	fault.BodyTooLarge:         http.StatusRequestEntityTooLarge,
	fault.Unauthenticated:      http.StatusUnauthorized,
	fault.InvalidCredentials:   http.StatusUnauthorized,
	fault.BootstrapDone:        http.StatusForbidden,
	fault.OriginRefused:        http.StatusForbidden,
	fault.Forbidden:            http.StatusForbidden,
	fault.NotFound:             http.StatusNotFound,
	fault.Conflict:             http.StatusConflict,
	fault.IdempotencyConflict:  http.StatusUnprocessableEntity,
	fault.RateLimited:          http.StatusTooManyRequests,
	fault.TooLarge:             http.StatusUnprocessableEntity,
	fault.InvitationInvalid:    http.StatusUnauthorized,
	fault.EnrolmentInvalid:     http.StatusUnauthorized,
	fault.EdgeRevoked:          http.StatusUnauthorized,
	fault.EdgeRefused:          http.StatusForbidden,
	fault.AgentUnknown:         http.StatusBadRequest,
	fault.AgentOperateRequired: http.StatusForbidden,
	fault.EmptyPrompt:          http.StatusBadRequest,
	fault.RunEnded:             http.StatusConflict,
	fault.RunActive:            http.StatusConflict,
	fault.AlreadyAnswered:      http.StatusConflict,
	fault.PromptCancelled:      http.StatusConflict,
	fault.PromptExpired:        http.StatusConflict,
	fault.DigestMismatch:       http.StatusConflict,
	fault.SessionDissolved:     http.StatusGone,
	fault.RecallTimeout:        http.StatusBadRequest,
	fault.EditTimeout:          http.StatusBadRequest,
	fault.TaskInProgress:       http.StatusConflict,
	fault.Compacting:           http.StatusConflict,
	fault.NotRunning:           http.StatusConflict,
	fault.NotPending:           http.StatusConflict,
	fault.NothingToCompact:     http.StatusConflict,
	fault.AlreadyCompacted:     http.StatusConflict,
	fault.UnsupportedByRuntime: http.StatusConflict,
	fault.ReadOnly:             http.StatusConflict,
	fault.CursorInvalid:        http.StatusBadRequest,
	fault.CursorReset:          http.StatusConflict,
	fault.CursorAhead:          http.StatusUnprocessableEntity,
	fault.CursorNegative:       http.StatusUnprocessableEntity,
	fault.EventsExpired:        http.StatusGone,
	fault.BlobMismatch:         http.StatusUnprocessableEntity,
	fault.Busy:                 http.StatusServiceUnavailable,
}

// retryAfter is how many seconds a client should wait when nothing says it better.
const retryAfter = "2"

// problems answers errors as RFC 9457 documents. What is no fault, or one that is not for clients, is logged and answered as internal.
type problems struct{ log *slog.Logger }

// statusClientGone is what other servers, too, note for a request whose caller has left before the answer. It is not registered.
const statusClientGone = 499

// answer writes err's problem. It may be called as long as nothing else has been written.
func (p problems) answer(w http.ResponseWriter, r *http.Request, err error) {
	f := classify(err)
	var many *tooMany
	if errors.As(err, &many) {
		w.Header().Set("Retry-After", strconv.Itoa(many.seconds()))
	}
	status, ok := statuses[f.Code]
	if !ok && r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		w.WriteHeader(statusClientGone) // for the metrics and the log of requests; nobody reads it, and nothing has failed here
		return
	}
	if !ok {
		p.log.ErrorContext(r.Context(), "request failed", "method", r.Method, "pattern", r.Pattern, "error", err)
		f, status = fault.Public(errors.New("internal")), http.StatusInternalServerError
	}
	p.writeWith(w, r, status, f, Problem{Answer: recordedAnswer(err), Epoch: currentEpoch(err), Floor: floorOf(err)})
}

// write writes a problem, also one whose status is not the usual one of its code: 405 and 415.
func (p problems) write(w http.ResponseWriter, r *http.Request, status int, f *fault.Fault) {
	p.writeWith(w, r, status, f, Problem{})
}

// writeWith writes a problem that has further fields already.
func (p problems) writeWith(w http.ResponseWriter, r *http.Request, status int, f *fault.Fault, problem Problem) {
	trace, _ := telemetry.TraceFrom(r.Context())
	problem.Type, problem.Title, problem.Status = "urn:switchyard:problem:"+string(f.Code), http.StatusText(status), status
	problem.Detail, problem.Code, problem.TraceID = f.Detail, ProblemCode(f.Code), string(trace.TraceID)
	body, err := json.Marshal(problem)
	if err != nil {
		p.log.ErrorContext(r.Context(), "problem cannot be encoded", "error", err)
	}
	header := w.Header()
	header.Set("Content-Type", "application/problem+json")
	header.Set("Cache-Control", "no-store")
	switch status {
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if header.Get("Retry-After") == "" {
			header.Set("Retry-After", retryAfter)
		}
	}
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck // the client is gone
}

// classify finds the fault in err, or makes one of what the generated code reports about parameters.
func classify(err error) *fault.Fault {
	var (
		format   *InvalidParamFormatError
		param    *RequiredParamError
		header   *RequiredHeaderError
		many     *TooManyValuesForParamError
		value    *UnmarshalingParamError
		tooLarge *http.MaxBytesError
	)
	switch {
	case errors.As(err, &tooLarge):
		return fault.Wrap(err, fault.BodyTooLarge, "The body is larger than the %d bytes that this address takes.", tooLarge.Limit)
	case errors.As(err, &format):
		return fault.Wrap(err, fault.InvalidRequest, "The value of %s has the wrong form.", format.ParamName)
	case errors.As(err, &value):
		return fault.Wrap(err, fault.InvalidRequest, "The value of %s has the wrong form.", value.ParamName)
	case errors.As(err, &param):
		return fault.Wrap(err, fault.InvalidRequest, "%s is missing.", param.ParamName)
	case errors.As(err, &header):
		return fault.Wrap(err, fault.InvalidRequest, "The header %s is missing. Give each attempt a new value, and a repeat of it the same.", header.ParamName)
	case errors.As(err, &many):
		return fault.Wrap(err, fault.InvalidRequest, "%s was given more than once.", many.ParamName)
	}
	return fault.Public(err)
}
