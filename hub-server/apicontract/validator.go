package apicontract

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// Validator compares what the hub does with the contract. Safe for concurrent use.
type Validator struct {
	router   routers.Router
	frame    *openapi3.Schema
	payloads map[string]*openapi3.Schema // by frame type
	statuses map[string][]int            // by problem code
}

// New makes a Validator of the repository's contract.
func New(ctx context.Context) (*Validator, error) {
	doc, err := Load(ctx)
	if err != nil {
		return nil, err
	}
	closeObjects(doc)
	doc.Servers = nil // a test server listens on any port
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("route the contract: %w", err)
	}
	payloads, err := payloadSchemas(doc)
	if err != nil {
		return nil, err
	}
	statuses, err := problemStatuses(doc)
	if err != nil {
		return nil, err
	}
	return &Validator{
		router:   router,
		frame:    doc.Components.Schemas["HubWebSocketFrame"].Value,
		payloads: payloads,
		statuses: statuses,
	}, nil
}

// Request reports how r differs from what the contract lets a client send, a missing credential included. r.Body is read
// and put back.
func (v *Validator) Request(r *http.Request) error {
	input, err := v.requestInput(r)
	if err != nil {
		return err
	}
	if err := openapi3filter.ValidateRequest(r.Context(), input); err != nil {
		return fmt.Errorf("%s %s: request outside the contract: %w", r.Method, r.URL.Path, err)
	}
	return nil
}

// Response reports how resp, the answer to r, differs from the contract: undocumented path, status, content type, header
// or field, a value beyond its bounds, or a problem whose code does not belong to its status. resp.Body is read and put back.
func (v *Validator) Response(r *http.Request, resp *http.Response) error {
	input, err := v.requestInput(r)
	if err != nil {
		return err
	}
	body, err := readBody(&resp.Body)
	if err != nil {
		return fmt.Errorf("%s %s: read answer: %w", r.Method, r.URL.Path, err)
	}
	err = openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input,
		Status:                 resp.StatusCode,
		Header:                 resp.Header,
		Body:                   io.NopCloser(bytes.NewReader(body)),
		Options:                options(),
	})
	if err == nil {
		err = v.problem(resp, body)
	}
	if err != nil {
		return fmt.Errorf("%s %s answered %d outside the contract: %w", r.Method, r.URL.Path, resp.StatusCode, err)
	}
	return nil
}

// Frame reports how one text message of /client/ws differs from the contract: the frame itself and the payload of its type.
func (v *Validator) Frame(raw []byte) error {
	var frame struct {
		Type    string `json:"type"`
		Payload any    `json:"payload"`
	}
	var whole any
	if err := json.Unmarshal(raw, &whole); err != nil {
		return fmt.Errorf("frame is not JSON: %w", err)
	}
	if err := v.frame.VisitJSON(whole); err != nil {
		return fmt.Errorf("frame outside the contract: %w", err)
	}
	if err := json.Unmarshal(raw, &frame); err != nil {
		return fmt.Errorf("frame is not JSON: %w", err)
	}
	if err := v.payloads[frame.Type].VisitJSON(frame.Payload); err != nil {
		return fmt.Errorf("payload of %s outside the contract: %w", frame.Type, err)
	}
	return nil
}

func (v *Validator) requestInput(r *http.Request) (*openapi3filter.RequestValidationInput, error) {
	route, params, err := v.router.FindRoute(r)
	if err != nil {
		return nil, fmt.Errorf("%s %s is not in the contract: %w", r.Method, r.URL.Path, err)
	}
	return &openapi3filter.RequestValidationInput{Request: r, Route: route, PathParams: params, Options: options()}, nil
}

// problem checks what a schema cannot say: the status inside equals the one outside, and is one that the code comes with.
func (v *Validator) problem(resp *http.Response, body []byte) error {
	if resp.Header.Get("Content-Type") != "application/problem+json" || len(body) == 0 {
		return nil
	}
	var problem struct {
		Status int    `json:"status"`
		Code   string `json:"code"`
	}
	if err := json.Unmarshal(body, &problem); err != nil {
		return fmt.Errorf("read problem: %w", err)
	}
	if problem.Status != resp.StatusCode {
		return fmt.Errorf("problem says status %d", problem.Status)
	}
	if !slices.Contains(v.statuses[problem.Code], problem.Status) {
		return fmt.Errorf("code %s does not come with this status", problem.Code)
	}
	return nil
}

func options() *openapi3filter.Options {
	return &openapi3filter.Options{
		IncludeResponseStatus: true,
		SkipSettingDefaults:   true,
		MultiError:            true,
		AuthenticationFunc:    credentialPresent,
	}
}

// credentialPresent checks that a request carries the kind of credential that the contract asks for. Whether it is good is
// for the hub to say; without this function kin-openapi would let every request pass.
func credentialPresent(_ context.Context, input *openapi3filter.AuthenticationInput) error {
	r := input.RequestValidationInput.Request
	scheme := input.SecurityScheme
	switch scheme.In {
	case openapi3.ParameterInCookie:
		if _, err := r.Cookie(scheme.Name); err != nil {
			return fmt.Errorf("cookie %s: %w", scheme.Name, err)
		}
		return nil
	case openapi3.ParameterInHeader:
		if r.Header.Get(scheme.Name) == "" {
			return fmt.Errorf("header %s is missing", scheme.Name)
		}
		return nil
	}
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); !ok || token == "" {
		return fmt.Errorf("%s: no bearer credential", input.SecuritySchemeName)
	}
	return nil
}

// readBody returns what *body holds and puts the same bytes back.
func readBody(body *io.ReadCloser) ([]byte, error) {
	if *body == nil || *body == http.NoBody {
		return nil, nil
	}
	raw, err := io.ReadAll(*body)
	closeErr := (*body).Close()
	*body = io.NopCloser(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return raw, closeErr
}
