package httpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/apicontract"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// client sends requests as somebody; every answer is held to the contract.
type client struct {
	hub     *hub
	bearer  string
	headers map[string]string
	login   tokens
}

type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	User    struct {
		ID   string `json:"id"`
		Name string `json:"username"`
	} `json:"user"`
	Device struct {
		ID string `json:"id"`
	} `json:"device"`
}

func (h *hub) anonymous() *client { return &client{hub: h, headers: map[string]string{}} }

// as returns a client with a bearer credential.
func (h *hub) as(bearer string) *client {
	return &client{hub: h, bearer: bearer, headers: map[string]string{}}
}

// with returns a client that also sends a header.
func (c *client) with(name, value string) *client {
	other := &client{hub: c.hub, bearer: c.bearer, login: c.login, headers: map[string]string{name: value}}
	for n, v := range c.headers {
		if n != name {
			other.headers[n] = v
		}
	}
	return other
}

type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// code is the code of a problem, "" for a success.
func (a answer) code() string {
	var p struct {
		Code string `json:"code"`
	}
	if a.status >= 400 {
		a.into(&p)
	}
	return p.Code
}

func (a answer) into(v any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		a.t.Fatalf("answer %d %q: %v", a.status, a.body, err)
	}
}

func (a answer) is(status int, code string) answer {
	a.t.Helper()
	if a.status != status || a.code() != code {
		a.t.Fatalf("answered %d %s, want %d %q", a.status, a.body, status, code)
	}
	return a
}

// field reads one text field of a success.
func (a answer) field(name string) string {
	a.t.Helper()
	var fields map[string]json.RawMessage
	a.into(&fields)
	var s string
	if err := json.Unmarshal(fields[name], &s); err != nil {
		a.t.Fatalf("field %s of %s: %v", name, a.body, err)
	}
	return s
}

// do sends a request. A POST gets an Idempotency-Key of its own unless the client has one.
func (c *client) do(method, path string, body any) answer {
	c.hub.t.Helper()
	var raw []byte
	switch b := body.(type) {
	case nil:
	case string:
		raw = []byte(b)
	case []byte:
		raw = b
	default:
		var err error
		if raw, err = json.Marshal(body); err != nil {
			c.hub.t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(c.hub.t.Context(), method, c.hub.server.URL+path, bytes.NewReader(raw))
	if err != nil {
		c.hub.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+c.bearer)
	}
	if method == http.MethodPost {
		r.Header.Set("Idempotency-Key", string(id.NewDelivery()))
	}
	for name, value := range c.headers {
		if r.Header.Set(name, value); value == "" {
			r.Header.Del(name)
		}
	}
	return c.hub.send(r)
}

func (h *hub) send(r *http.Request) answer {
	h.t.Helper()
	transport := &apicontract.Transport{Base: h.server.Client().Transport, Validator: h.validator, Report: func(err error) {
		if !strings.Contains(err.Error(), "is not in the contract") { // some tests ask for what is not there
			h.t.Errorf("contract: %v", err)
		}
	}}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer{t: h.t, status: resp.StatusCode, header: resp.Header, body: data}
}

func (c *client) get(path string) answer { c.hub.t.Helper(); return c.do(http.MethodGet, path, nil) }
func (c *client) post(path string, body any) answer {
	c.hub.t.Helper()
	return c.do(http.MethodPost, path, body)
}
func (c *client) delete(path string) answer {
	c.hub.t.Helper()
	return c.do(http.MethodDelete, path, nil)
}
func (c *client) put(path string) answer { c.hub.t.Helper(); return c.do(http.MethodPut, path, nil) }

type object = map[string]any

var deviceA = object{"type": "cli", "name": "a"}

// first makes the first user of the hub, with its bootstrap token.
func (h *hub) first(name string) *client {
	h.t.Helper()
	return h.signedIn(h.anonymous().post("/client/auth/bootstrap", object{
		"token": h.bootstrapToken(), "username": name, "password": password, "device": deviceA,
	}).is(201, ""))
}

// invite makes another user.
func (c *client) invite(name string) *client {
	c.hub.t.Helper()
	token := c.post("/client/invitations", nil).is(201, "").field("token")
	return c.hub.signedIn(c.hub.anonymous().post("/client/auth/register", object{
		"token": token, "username": name, "password": password, "device": deviceA,
	}).is(201, ""))
}

func (h *hub) signedIn(a answer) *client {
	h.t.Helper()
	c := h.anonymous()
	a.into(&c.login)
	c.bearer = c.login.Access
	return c
}
