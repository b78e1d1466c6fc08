// Package outgoing speaks to servers whose addresses people have given to the hub. There is one client for all of it (SEC22): it judges the address
// that is dialled, after names were resolved and for every redirect anew, so no name, however often it changes, leads into the hub's own network.
package outgoing

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

// Bounds of one exchange.
const (
	Within       = 15 * time.Second // all of it
	dialWithin   = 4 * time.Second
	answerWithin = 10 * time.Second // from the request to the head of the answer
	maxHead      = 16 << 10
	maxBody      = 64 << 10
	maxRedirects = 3
	idleConns    = 32
	idleFor      = 30 * time.Second
	maxConnsPer  = 8 // to one host
)

// Client makes requests within bounds. Safe for concurrent use.
type Client struct {
	http *http.Client
}

// Config is what a Client is made of.
type Config struct {
	Allowed  Allowed       // beside the Internet
	Resolver *net.Resolver // of tests; nil: the system's
	TLS      *tls.Config   // of tests; nil: the authorities that the system trusts
}

// NewClient returns a client. Close it when nothing uses it any more.
func NewClient(c Config) *Client {
	return &Client{http: &http.Client{
		Transport: byScheme{secure: c.transport(false), clear: c.transport(true)},
		Timeout:   Within,
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			// What was asked first counts: after a 302 a POST goes on as a GET.
			if via[0].Method != http.MethodGet || len(via) > maxRedirects {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}
}

func (c Config) transport(plain bool) *http.Transport {
	dialer := net.Dialer{
		Timeout: dialWithin, Resolver: c.Resolver,
		// Control sees the address that the socket is about to connect to: there is no time between this look and the use.
		Control: func(_, address string, _ syscall.RawConn) error { return c.Allowed.check(address, plain) },
	}
	return &http.Transport{
		Proxy:       nil, // a proxy would dial in our place, wherever it likes
		DialContext: dialer.DialContext, TLSClientConfig: c.TLS.Clone(), TLSHandshakeTimeout: dialWithin, ResponseHeaderTimeout: answerWithin,
		MaxResponseHeaderBytes: maxHead, MaxIdleConns: idleConns, MaxConnsPerHost: maxConnsPer, IdleConnTimeout: idleFor, ForceAttemptHTTP2: true,
		DisableCompression: true, // a small body stays small
	}
}

// byScheme keeps what is in the clear apart, because its addresses are judged more strictly.
type byScheme struct {
	secure, clear *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (b byScheme) RoundTrip(r *http.Request) (*http.Response, error) {
	switch r.URL.Scheme {
	case "https":
		return b.secure.RoundTrip(r)
	case "http":
		return b.clear.RoundTrip(r)
	}
	return nil, fmt.Errorf("%w: not http", ErrForbidden)
}

// Close ends connections that nobody uses.
func (c *Client) Close() {
	for _, t := range []*http.Transport{c.transports().secure, c.transports().clear} {
		t.CloseIdleConnections()
	}
}

func (c *Client) transports() byScheme { return c.http.Transport.(byScheme) }

// Answer is what a server has said.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // its beginning
}

// Do makes a request. A GET follows a few redirects; for all else a redirect is the answer. A server that says more than a little is not heard out.
func (c *Client) Do(r *http.Request) (Answer, error) {
	response, err := c.http.Do(r)
	if err != nil {
		return Answer{}, withoutURL(err)
	}
	defer response.Body.Close() //nolint:errcheck // what was read is what counts
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Answer{}, err
	}
	return Answer{Status: response.StatusCode, Header: response.Header, Body: body}, nil
}

// Request is http.NewRequestWithContext without the address in its error: addresses are secrets.
func Request(ctx context.Context, method, address string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", withoutURL(err))
	}
	r.Header.Set("User-Agent", "switchyard")
	return r, nil
}

// withoutURL takes the address out of an error: whoever knows the address of a push may send one.
func withoutURL(err error) error {
	var with *url.Error
	if errors.As(err, &with) {
		return fmt.Errorf("%s: %w", with.Op, with.Err)
	}
	return err
}
