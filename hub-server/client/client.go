// Package client is the Go SDK of a Switchyard hub. It depends on nothing of the hub but the contract.
//
// Begin with OpenFolder, which keeps a device, New, and Client.Feed, which tells everything that its user may see: once, in order, through lost
// connections and restarts. Client.API has every REST operation. docs/client-guide.md says what all of it is for.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

const (
	// maxAnswer bounds what a REST answer may weigh, in bytes; artifacts are streamed and have no such bound.
	maxAnswer = 32 << 20
	// answerWithin bounds how long a hub may think before it begins to answer. Bodies may take as long as they need.
	answerWithin = 30 * time.Second
)

// Client speaks with one hub as one device. Safe for concurrent use.
type Client struct {
	hub    string
	plain  *http.Client // without credentials
	api    *API
	tokens *tokenSource
	now    func() time.Time
	live   atomic.Pointer[websocket.Conn] // of the stream that is followed; nil while there is none
	typed  typed
}

// Options are what New and Anonymous need to know.
type Options struct {
	Hub       string            // base URL, such as http://127.0.0.1:8080
	Keeper    Keeper            // where the device's credentials live; Anonymous needs none
	Transport http.RoundTripper // nil: http.DefaultTransport with a time limit for the start of an answer
	UserAgent string
}

// New returns a client for the device whose credentials opts.Keeper holds. Nothing is sent yet.
func New(opts Options) (*Client, error) {
	hub, err := baseURL(opts.Hub)
	if err != nil {
		return nil, err
	}
	transport := opts.transport()
	plain := doer(transport)
	open, err := newAPI(hub, plain, opts.UserAgent)
	if err != nil {
		return nil, err
	}
	tokens := newTokenSource(opts.Keeper, open)
	api, err := newAPI(hub, doer(&bearerTransport{next: transport, tokens: tokens}), opts.UserAgent)
	if err != nil {
		return nil, err
	}
	return &Client{hub: hub, plain: plain, api: api, tokens: tokens, now: time.Now}, nil
}

// Anonymous returns the API without credentials, for the ways in: bootstrap, register, login, and for the health pages.
func Anonymous(opts Options) (ClientInterface, error) {
	hub, err := baseURL(opts.Hub)
	if err != nil {
		return nil, err
	}
	return newAPI(hub, doer(opts.transport()), opts.UserAgent)
}

// API is every REST operation of the contract, authenticated. Read answers with Decode.
func (c *Client) API() ClientInterface { return c.api }

// Hub is the base URL that the client speaks with.
func (c *Client) Hub() string { return c.hub }

// doer sends requests and follows no redirect: each carries a secret, in its header or its body, and that is for the hub alone.
func doer(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func newAPI(hub string, doer HttpRequestDoer, agent string) (*API, error) {
	return NewClient(hub, WithHTTPClient(doer), WithRequestEditorFn(func(_ context.Context, req *http.Request) error {
		if agent != "" {
			req.Header.Set("User-Agent", agent)
		}
		return nil
	}))
}

func (o Options) transport() http.RoundTripper {
	if o.Transport != nil {
		return o.Transport
	}
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	limited := standard.Clone()
	limited.ResponseHeaderTimeout = answerWithin
	return limited
}

func baseURL(hub string) (string, error) {
	u, err := url.Parse(hub)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("hub address %q is not of the form http://host:port", hub)
	}
	return strings.TrimSuffix(hub, "/"), nil
}

// Decode reads the answer of an API call: the resource of a 2xx, a *ProblemError of anything else. It closes the body.
//
//	agents, err := client.Decode[client.AgentList](c.API().ListAgents(ctx))
func Decode[T any](resp *http.Response, err error) (T, error) { return decode[T](maxAnswer, resp, err) }

// decode is Decode for an answer of at most so many bytes.
func decode[T any](most int64, resp *http.Response, err error) (T, error) {
	var resource T
	if err != nil {
		return resource, unreachable(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return resource, unreachable(err)
	}
	if int64(len(body)) > most {
		return resource, fmt.Errorf("answer of %s is larger than %d bytes", resp.Request.URL.Path, most)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return resource, problemOf(resp, body)
	}
	if len(body) == 0 {
		return resource, nil
	}
	if err := json.Unmarshal(body, &resource); err != nil {
		return resource, fmt.Errorf("answer of %s does not fit the contract: %w", resp.Request.URL.Path, err)
	}
	return resource, nil
}

// Content returns the body of a 2xx answer, which the caller closes, or a *ProblemError.
func Content(resp *http.Response, err error) (io.ReadCloser, error) {
	if err != nil {
		return nil, unreachable(err)
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return resp.Body, nil
	}
	_, err = Decode[Nothing](resp, nil)
	return nil, err
}

// Nothing is the resource of an answer without a body, for Decode.
type Nothing struct{}

// ErrUnreachable says that the hub could not be talked to at all.
var ErrUnreachable = errors.New("hub is not reachable")

func unreachable(err error) error {
	var problem *ProblemError
	if errors.As(err, &problem) || errors.Is(err, ErrLoggedOut) || errors.Is(err, ErrKicked) || errors.Is(err, ErrUnreachable) || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}
