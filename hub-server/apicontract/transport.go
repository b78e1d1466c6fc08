package apicontract

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// Transport is an http.RoundTripper for the client side of a test: it checks every answer, and that the hub accepted nothing
// that the contract forbids. Differences go to Report, which may be called from any goroutine; the exchange itself goes on.
type Transport struct {
	Base      http.RoundTripper // nil means http.DefaultTransport
	Validator *Validator
	Report    func(error)
}

// RoundTrip implements http.RoundTripper. Bodies of requests are held in memory until the answer has come.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context()) // a RoundTripper leaves its request as it is
	sent, err := readBody(&out.Body)
	if err != nil {
		return nil, fmt.Errorf("hold request body: %w", err)
	}
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < http.StatusMultipleChoices {
		accepted := r.Clone(r.Context())
		accepted.Body = io.NopCloser(bytes.NewReader(sent))
		t.check(t.Validator.Request(accepted))
	}
	switch {
	case resp.StatusCode == http.StatusSwitchingProtocols: // the body of an upgrade is the live connection
	case resp.Header.Get("Content-Type") == "text/event-stream": // and the one of a stream comes as long as there is something to tell
		head := *resp
		head.Body = http.NoBody
		t.check(t.Validator.Response(r, &head))
	default:
		t.check(t.Validator.Response(r, resp))
	}
	return resp, nil
}

func (t *Transport) check(err error) {
	if err != nil {
		t.Report(err)
	}
}
