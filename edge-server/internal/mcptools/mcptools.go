// Package mcptools offers the tools of clients to agents by the Model Context Protocol (Streamable HTTP), beside the lines of the events runtime: an
// agent that is built on an MCP client needs no words of ours. There is one server per run, behind a token that dies with the run.
package mcptools

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	prefix     = "/mcp/"
	tokenBytes = 32
	maxRequest = 1 << 20 // bytes
)

// Endpoint is where agents reach the tools of their runs: a handler below /mcp/. It is a runtime.ToolServer. Safe for concurrent use.
type Endpoint struct {
	version string

	mu   sync.Mutex
	addr string
	runs map[id.Run]served
}

// served is what one run has.
type served struct {
	token   string
	handler http.Handler
}

// New returns an Endpoint that nobody reaches yet. version is told to agents.
func New(version string) *Endpoint { return &Endpoint{version: version, runs: map[id.Run]served{}} }

// ReachedAt says on which loopback host:port requests arrive. It is called before the first Offer.
func (e *Endpoint) ReachedAt(addr string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.addr = addr
}

// Offer serves the tools of a run. See runtime.ToolServer.
func (e *Endpoint) Offer(run id.Run, tools []wire.ClientTool, call runtime.ClientCall) (at bridge.MCP, withdraw func()) {
	raw := make([]byte, tokenBytes)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	token := base64.RawURLEncoding.EncodeToString(raw)
	server := newServer(e.version, tools, call)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxRequest,
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.runs[run] = served{token, handler}
	at = bridge.MCP{URL: "http://" + e.addr + prefix + string(run), Headers: map[string]string{"Authorization": "Bearer " + token}}
	return at, func() { e.withdraw(run, token) }
}

// withdraw leaves alone what was offered for the same run again.
func (e *Endpoint) withdraw(run id.Run, token string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runs[run].token == token {
		delete(e.runs, run)
	}
}

// ServeHTTP answers whoever has the token of the run that the path names. Whether there is such a run is nobody else's business.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	s, ok := e.runs[id.Run(strings.TrimPrefix(r.URL.Path, prefix))]
	e.mu.Unlock()
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	right := subtle.ConstantTimeCompare([]byte(strings.TrimSpace(given)), []byte(s.token)) == 1
	if !ok || !right || !strings.EqualFold(scheme, "Bearer") {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "Send the token of the run as bearer. It is good while the run lasts.", http.StatusUnauthorized)
		return
	}
	// A client takes its time; how long a call waits at most is up to the call.
	if err := http.NewResponseController(w).SetWriteDeadline(time.Time{}); err != nil {
		http.Error(w, "The edge cannot wait for a client here.", http.StatusInternalServerError)
		return
	}
	s.handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), asking{}, r.Context())))
}

// asking is the key of the context of the request that a call came with: the library takes its end off those that it hands out.
type asking struct{}
