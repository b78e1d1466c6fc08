package client

import (
	"io"
	"net/http"
)

// bearerTransport adds the access token, and tries once more with a new one when the hub answers 401.
type bearerTransport struct {
	next   http.RoundTripper
	tokens *tokenSource
}

func (t *bearerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	token, err := t.tokens.token(req.Context(), "")
	if err != nil {
		closeBody(req.Body)
		return nil, err
	}
	resp, err := t.next.RoundTrip(withBearer(req, token))
	if err != nil || resp.StatusCode != http.StatusUnauthorized || !repeatable(req) {
		return resp, err
	}
	resp.Body.Close()
	if token, err = t.tokens.token(req.Context(), token); err != nil {
		return nil, err
	}
	again := withBearer(req, token)
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return t.next.RoundTrip(again)
}

func repeatable(req *http.Request) bool {
	return req.Body == nil || req.Body == http.NoBody || req.GetBody != nil
}

func withBearer(req *http.Request, token string) *http.Request {
	clone := req.Clone(req.Context())
	clone.Header.Set("Authorization", "Bearer "+token)
	return clone
}

func closeBody(body io.Closer) {
	if body != nil {
		body.Close()
	}
}
