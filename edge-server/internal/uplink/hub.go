package uplink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// hub is the HTTP side of the other end.
type hub struct {
	base       *url.URL
	credential string
	client     *http.Client
}

const (
	dialLimit    = 10 * time.Second
	blobLimit    = 10 * time.Minute
	maxProblem   = 4 << 10
	tunnelRead   = 2 << 20 // bytes of one WebSocket message
	headerConn   = "Switchyard-Connection"
	headerTicket = "Switchyard-Bus-Ticket"
)

func newHub(who Identity) (*hub, error) {
	base, err := ParseHubURL(who.HubURL)
	if err != nil {
		return nil, err
	}
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("the HTTP transport of this program was replaced")
	}
	client := &http.Client{Transport: transport.Clone(), CheckRedirect: stay}
	return &hub{base: base, credential: who.Credential, client: client}, nil
}

// stay follows no redirect: what is sent is a secret, or goes with one, and is for the hub alone.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// ParseHubURL checks the address of a hub: http or https, a host, nothing behind it.
func ParseHubURL(text string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("hub address %.200q: want something like https://hub.example.org", text)
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("hub address %s: want no user, query or fragment", base.Redacted())
	}
	return base, nil
}

func (h *hub) close() { h.client.CloseIdleConnections() }

// tunnel is an open WebSocket with what its 101 answer said.
type tunnel struct {
	socket *websocket.Conn
	conn   id.Connection
	ticket string
}

// open opens the tunnel. The fault of a refusal is the hub's own.
func (h *hub) open(ctx context.Context) (*tunnel, error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	//nolint:bodyclose // the library closes it, or replaces it by a buffer
	socket, answer, err := websocket.Dial(ctx, h.base.JoinPath("edge", "uplink").String(), &websocket.DialOptions{
		HTTPClient: h.client, HTTPHeader: h.headers(), CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		if answer != nil && answer.StatusCode != http.StatusSwitchingProtocols {
			return nil, problem(answer)
		}
		return nil, fmt.Errorf("open tunnel: %w", err)
	}
	socket.SetReadLimit(tunnelRead)
	conn, err := id.ParseConnection(answer.Header.Get(headerConn))
	if err != nil {
		socket.CloseNow() //nolint:errcheck // nothing was said yet
		return nil, fmt.Errorf("open tunnel: the answer names no connection: %w", err)
	}
	return &tunnel{socket: socket, conn: conn, ticket: answer.Header.Get(headerTicket)}, nil
}

func (h *hub) headers() http.Header {
	return http.Header{"Authorization": {"Bearer " + h.credential}}
}

// upload makes sure that the hub has the blob: it asks first.
func (h *hub) upload(ctx context.Context, ref event.BlobRef, body *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, blobLimit)
	defer cancel()
	has, err := h.request(ctx, http.MethodHead, ref, nil)
	if err != nil {
		return err
	}
	defer has.Body.Close() //nolint:errcheck // it has no body
	if has.StatusCode == http.StatusOK {
		return nil
	}
	put, err := h.request(ctx, http.MethodPut, ref, body)
	if err != nil {
		return err
	}
	defer put.Body.Close() //nolint:errcheck // nothing more to read
	if put.StatusCode/100 != 2 {
		return problem(put)
	}
	return nil
}

func (h *hub) request(ctx context.Context, method string, ref event.BlobRef, body *os.File) (*http.Response, error) {
	var reader io.Reader
	if body != nil {
		reader = body
	}
	r, err := http.NewRequestWithContext(ctx, method, h.base.JoinPath("edge", "blobs", ref.SHA256).String(), reader)
	if err != nil {
		return nil, fmt.Errorf("blob request: %w", err)
	}
	r.Header = h.headers()
	if body != nil {
		r.ContentLength = ref.Size
		r.Header.Set("Content-Type", "application/octet-stream")
	}
	answer, err := h.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("blob request: %w", err)
	}
	return answer, nil
}

// problem reads the fault out of a refusal. An answer that is none of ours becomes unauthenticated or internal by its status.
func problem(answer *http.Response) error {
	var p struct {
		Code   fault.Code `json:"code"`
		Detail string     `json:"detail"`
	}
	err := json.NewDecoder(io.LimitReader(answer.Body, maxProblem)).Decode(&p)
	if err == nil && p.Code != "" {
		return fault.New(p.Code, "%s", p.Detail)
	}
	code := fault.Internal
	if answer.StatusCode == http.StatusUnauthorized {
		code = fault.Unauthenticated
	}
	if to, err := answer.Location(); err == nil {
		return fault.New(code, "The address leads to %s://%s, where nothing is sent. If the hub is there, use that address.", to.Scheme, to.Host)
	}
	return fault.New(code, "The hub answered %s.", answer.Status)
}
