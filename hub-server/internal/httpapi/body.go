package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

const (
	maxJSONBody  = 2 << 20 // bytes of any JSON request: a text of 64 KiB, however it is escaped, and beyond that a sentence about what is too long
	maxJSONDepth = 32
	bodyPatience = 30 * time.Second // for a whole JSON body; for each piece of a blob
)

type bodyKey struct{}

// boundedJSON reads a JSON body once, within its limits, before anything parses it (SEC9), and keeps it for strictBody.
func boundedJSON(p problems, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isBlob(r) {
			r.Body = &patientBody{ReadCloser: r.Body, conn: http.NewResponseController(w)}
			next.ServeHTTP(w, r)
			return
		}
		if r.Method == http.MethodGet || r.Method == http.MethodHead || r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
			p.write(w, r, http.StatusUnsupportedMediaType, fault.New(fault.InvalidRequest, "Send the body as application/json."))
			return
		}
		body, err := readJSON(w, r)
		if err != nil {
			p.answer(w, r, err)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), bodyKey{}, body))
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// patientBody cuts a connection that sends nothing for bodyPatience; without it a client could hold a handler for ever.
type patientBody struct {
	io.ReadCloser
	conn *http.ResponseController
}

func (p *patientBody) Read(b []byte) (int, error) {
	p.extend()
	n, err := p.ReadCloser.Read(b)
	if err != nil {
		p.relent()
	}
	return n, err
}

// A writer without deadlines, as in some tests, has no connection that could be held.
func (p *patientBody) extend() { p.conn.SetReadDeadline(time.Now().Add(bodyPatience)) } //nolint:errcheck // see above

// relent takes the deadline away: once the body is read, silence is the client waiting for its answer.
func (p *patientBody) relent() { p.conn.SetReadDeadline(time.Time{}) } //nolint:errcheck // see above

// isBlob says whether the body is bytes that who takes them bounds and hashes: for the blob store, or the lines of a trace.
func isBlob(r *http.Request) bool {
	return r.Method == http.MethodPut && r.PathValue("sha256") != "" || r.Pattern == post+"/client/attachments" || r.Pattern == post+"/api/traces"
}

func readJSON(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	patient := &patientBody{ReadCloser: r.Body, conn: http.NewResponseController(w)}
	patient.extend()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxJSONBody))
	patient.relent()
	switch {
	case err != nil:
		return nil, err
	case !utf8.Valid(body):
		return nil, fault.New(fault.InvalidJSON, "The body is not UTF-8.")
	case event.Depth(body) > maxJSONDepth:
		return nil, fault.New(fault.InvalidJSON, "The body nests deeper than %d levels.", maxJSONDepth)
	case !json.Valid(body):
		return nil, fault.New(fault.InvalidJSON, "The body is not valid JSON.")
	}
	return body, nil
}

// strictBody decodes the body again into the operation's type, refusing fields that it does not have: a client cannot set what is not
// its to set (SEC12), and a misspelt field is told instead of ignored.
func strictBody(next StrictHandlerFunc, _ string) StrictHandlerFunc {
	return func(ctx context.Context, w http.ResponseWriter, r *http.Request, request any) (any, error) {
		raw, _ := ctx.Value(bodyKey{}).([]byte)
		if body := reflect.ValueOf(request).FieldByName("Body"); raw != nil && body.IsValid() && body.Kind() == reflect.Pointer {
			decoder := json.NewDecoder(bytes.NewReader(raw))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(reflect.New(body.Type().Elem()).Interface()); err != nil {
				return nil, badBody(err)
			}
		}
		return next(ctx, w, r, request)
	}
}

// badBody says what is wrong with a body that is JSON but not the contract's.
func badBody(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return fault.Wrap(err, fault.InvalidRequest, "The body must be a JSON %s.", kindName(wrong.Type))
	case errors.As(err, &wrong):
		return fault.Wrap(err, fault.InvalidRequest, "The field %q must be a %s.", wrong.Field, kindName(wrong.Type))
	case errors.Is(err, io.EOF):
		return fault.Wrap(err, fault.InvalidRequest, "The body is missing.")
	}
	if _, field, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return fault.Wrap(err, fault.InvalidRequest, "The field %s is not one of this address.", field)
	}
	return fault.Wrap(err, fault.InvalidRequest, "The body does not fit this address.")
}

// kindName is what JSON calls values of a Go type.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice, reflect.Array:
		return "list"
	case reflect.Struct, reflect.Map:
		return "object"
	default:
		return "number"
	}
}
