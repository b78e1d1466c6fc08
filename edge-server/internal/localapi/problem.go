package localapi

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// problem is EdgeProblem of api/edge.yaml (RFC 9457).
type problem struct {
	Type   string     `json:"type"`
	Title  string     `json:"title"`
	Status int        `json:"status"`
	Detail string     `json:"detail,omitempty"`
	Code   fault.Code `json:"code"`
}

// statusOf is the HTTP status that a code is answered with.
func statusOf(c fault.Code) int {
	switch c {
	case fault.InvalidRequest, fault.CursorInvalid:
		return http.StatusBadRequest
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Forbidden, fault.OriginRefused:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.CursorReset:
		return http.StatusConflict
	case fault.CursorAhead:
		return http.StatusUnprocessableEntity
	case fault.Busy:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// refuseOrLog is refuse for handlers that may fail through no fault of the caller.
func refuseOrLog(log *slog.Logger, w http.ResponseWriter, r *http.Request, err error) {
	if fault.CodeOf(err) == fault.Internal {
		log.ErrorContext(r.Context(), "local request failed", "pattern", r.Pattern, "error", err)
	}
	refuse(w, err)
}

// refuse answers a request with what is wrong. What is no fault is answered as internal; its text stays here.
func refuse(w http.ResponseWriter, err error) {
	f := fault.Public(err)
	if f.Code == fault.Internal {
		f = fault.New(fault.Internal, "Something went wrong in this edge. Its log says what.")
	}
	status := statusOf(f.Code)
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "2")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	//nolint:errcheck,errchkjson // the caller may be gone; nobody to tell
	json.NewEncoder(w).Encode(problem{
		Type: "urn:switchyard:problem:" + string(f.Code), Title: http.StatusText(status), Status: status, Detail: f.Detail, Code: f.Code,
	})
}
