package pushtest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Got is a request that a service has had.
type Got struct {
	Method string
	Path   string
	Header http.Header
	Body   []byte
	Fault  error          // what was wrong with it
	Text   map[string]any // of the push, decrypted
}

// Service receives pushes at addresses on loopback. Safe for concurrent use.
type Service struct {
	URL string

	tb     testing.TB
	server *httptest.Server

	mu     sync.Mutex
	got    []Got
	answer func(http.ResponseWriter, *http.Request) bool
}

// NewNtfy starts an ntfy server that takes topics with that token, or all if it is "".
func NewNtfy(tb testing.TB, token string) *Service {
	tb.Helper()
	s := &Service{tb: tb}
	s.start(httptest.NewServer, func(g *Got) int {
		if want := "Bearer " + token; token != "" && g.Header.Get("Authorization") != want {
			return http.StatusForbidden
		}
		if g.Method == http.MethodPut && strings.HasSuffix(g.Path, "/clear") {
			return http.StatusOK
		}
		if g.Method != http.MethodPost || g.Path != "/" {
			return http.StatusNotFound
		}
		if g.Fault = json.Unmarshal(g.Body, &g.Text); g.Fault != nil {
			return http.StatusBadRequest
		}
		return http.StatusOK
	})
	return s
}

// NewPushService starts the push service of a browser whose subscription was made with that key of a hub. It checks who pushes and decrypts what.
func NewPushService(tb testing.TB, b *Browser, publicKey func() string) *Service {
	tb.Helper()
	s := &Service{tb: tb}
	s.start(httptest.NewTLSServer, func(g *Got) int {
		if _, g.Fault = Vouched(g.Header, s.URL, publicKey(), time.Now()); g.Fault != nil {
			return http.StatusForbidden
		}
		text, err := b.Open(g.Body)
		if err == nil {
			err = json.Unmarshal(text, &g.Text)
		}
		if topic := g.Header.Get("Topic"); err == nil && (g.Header.Get("TTL") == "" || len(topic) != 32 || g.Header.Get("Content-Encoding") != "aes128gcm") {
			err = fmt.Errorf("headers %v", g.Header)
		}
		if g.Fault = err; err != nil {
			return http.StatusBadRequest
		}
		return http.StatusCreated
	})
	return s
}

func (s *Service) start(start func(http.Handler) *httptest.Server, judge func(*Got) int) {
	s.server = start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		g := Got{Method: r.Method, Path: r.URL.Path, Header: r.Header, Body: body, Fault: err}
		status := judge(&g)
		s.mu.Lock()
		s.got = append(s.got, g)
		answer := s.answer
		s.mu.Unlock()
		if answer == nil || !answer(w, r) {
			w.WriteHeader(status)
		}
	}))
	s.URL = s.server.URL
	s.tb.Cleanup(s.server.Close)
}

// Address is the host and port of the service.
func (s *Service) Address() string { return s.server.Listener.Addr().String() }

// TLS trusts the service.
func (s *Service) TLS() *tls.Config {
	pool := x509.NewCertPool()
	if c := s.server.Certificate(); c != nil {
		pool.AddCert(c)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

// Answer has the service answer otherwise from now on, where answer says that it has; nil for as it should.
func (s *Service) Answer(answer func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// Status has the service answer with that status from now on.
func (s *Service) Status(status int) {
	s.Answer(func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(status); return true })
}

// Got returns all requests so far.
func (s *Service) Got() []Got {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Got{}, s.got...)
}

// Encode writes base64url without padding.
func Encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
