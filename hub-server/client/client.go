// Package client is the Go SDK of a Switchyard hub: REST through the generated API, and the live stream of /client/ws that resumes
// where it stopped. It depends on nothing of the hub but the contract.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxAnswer bounds what a REST answer may weigh, in bytes; artifacts are streamed and have no such bound.
const maxAnswer = 32 << 20

// Client speaks with one hub as one device. Safe for concurrent use.
type Client struct {
	hub    string
	http   *http.Client
	api    *API
	tokens *tokenSource
}

// Options are what New needs to know.
type Options struct {
	Hub       string            // base URL, such as http://127.0.0.1:8080
	Keeper    Keeper            // where the device's credentials live
	Transport http.RoundTripper // nil: http.DefaultTransport
	UserAgent string
}

// New returns a client for the device whose credentials opts.Keeper holds. Nothing is sent yet.
func New(opts Options) (*Client, error) {
	hub := strings.TrimSuffix(opts.Hub, "/")
	transport := opts.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	plain := &http.Client{Transport: transport, Timeout: time.Minute}
	anonymous, err := NewClient(hub, WithHTTPClient(plain))
	if err != nil {
		return nil, fmt.Errorf("hub address %q: %w", opts.Hub, err)
	}
	tokens := &tokenSource{keeper: opts.Keeper, api: anonymous}
	authenticated := &http.Client{Transport: &bearerTransport{next: transport, tokens: tokens}}
	api, err := NewClient(hub, WithHTTPClient(authenticated), WithRequestEditorFn(userAgent(opts.UserAgent)))
	if err != nil {
		return nil, fmt.Errorf("hub address %q: %w", opts.Hub, err)
	}
	return &Client{hub: hub, http: plain, api: api, tokens: tokens}, nil
}

// API is every REST operation of the contract, authenticated. Read answers with Decode.
func (c *Client) API() ClientInterface { return c.api }

// Hub is the base URL that the client speaks with.
func (c *Client) Hub() string { return c.hub }

func userAgent(name string) RequestEditorFn {
	return func(_ context.Context, req *http.Request) error {
		if name != "" {
			req.Header.Set("User-Agent", name)
		}
		return nil
	}
}

// Decode reads the answer of an API call: the resource of a 2xx, a *ProblemError of anything else. It closes the body.
//
//	agents, err := client.Decode[client.AgentList](c.API().ListAgents(ctx))
func Decode[T any](resp *http.Response, err error) (T, error) {
	var resource T
	if err != nil {
		return resource, unreachable(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to the end already
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return resource, fmt.Errorf("read answer: %w", err)
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

// Nothing is the resource of an answer without a body, for Decode.
type Nothing struct{}

// ErrUnreachable says that the hub could not be talked to at all.
var ErrUnreachable = errors.New("hub is not reachable")

func unreachable(err error) error {
	var auth *ProblemError
	if errors.As(err, &auth) || errors.Is(err, ErrLoggedOut) || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}
