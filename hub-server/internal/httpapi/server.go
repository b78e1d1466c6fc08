// Package httpapi is the hub's HTTP surface: the generated server of api/openapi.yaml with its handlers, behind a guard that knows who
// calls and what they may do. It holds no rules of its own beyond that: those are the domain's.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/contact"
	"github.com/switchyard-dev/switchyard/hub-server/internal/control"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/search"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Deps is what the HTTP surface works with. All of it is safe for concurrent use.
type Deps struct {
	Log     *slog.Logger
	Metrics *telemetry.Registry
	Health  *telemetry.Health // of /readyz
	Version string

	People     *account.People
	Devices    *account.Devices
	Enrolments *fleet.Enrolments
	Edges      *fleet.Edges
	Agents     *fleet.Agents
	Sessions   *chat.Sessions
	Messages   *chat.Messages
	Imports    *chat.Imports
	Changes    *chat.Changes
	Runs       *runlog.Runs
	Prompts    *prompt.Prompts
	Controls   *control.Controls
	Notices    *notice.Notices
	Contacts   *contact.Contacts
	Blobs      *runlog.Blobs
	Files      *chat.Attachments
	Finder     search.Finder
	Attention  push.Attention
	Push       *push.Registrations
	// PushKey is what browsers subscribe with.
	PushKey string

	// Omni is conversations as OmniMessages.
	Omni *omnilog.Logs

	// Followers are told what happens to runs; Epoch is the store's, now. Pace is the timing of the streams.
	Followers *delivery.Followers
	Rounds    delivery.Rounds
	Epoch     func() wire.Epoch
	Pace      Pace

	Limiter Limiter
	Limits  Limits // zero rates mean the defaults

	// Origins of browser pages that may use the hub, its own included: scheme://host[:port].
	Origins []string
	// MetricsToken opens /metrics; "" opens it to this machine alone.
	MetricsToken string

	// ClientSocket serves /client/ws, CardSocket /v1/ws, EdgeUplink /edge/uplink. They judge the credential before they upgrade.
	ClientSocket http.Handler
	CardSocket   http.Handler
	EdgeUplink   http.Handler

	// Surplus says whether a request came on a connection that is one too many: it is told so, and the connection closed. May be nil.
	Surplus func(context.Context) bool
}

// handlers implements the generated server, one file per noun. The guard has been passed: whoever calls may do so.
type handlers struct {
	Deps

	traces  *turns // of those who ask for the traces of a conversation: it is read for them from its beginning
	imports importers
}

var _ StrictServerInterface = handlers{}

// New returns the hub's HTTP surface: every operation of api/openapi.yaml, and problems for everything else.
func New(d Deps) http.Handler {
	p := problems{log: d.Log}
	g := &guard{
		rules:   rules(),
		policy:  policy{sessions: d.Sessions, changes: d.Changes, agents: d.Agents, edges: d.Edges, runs: d.Runs, files: d.Files},
		devices: d.Devices, edges: d.Edges, trusted: trust(d.Origins),
		limiter: d.Limiter, limits: d.Limits.withDefaults(), metricsToken: d.MetricsToken, problems: p,
	}
	d.Limits, d.Pace = g.limits, d.Pace.withDefaults()
	metrics := newMetrics(d.Metrics)
	mux := guardedMux{mux: http.NewServeMux(), guard: g}
	strict := NewStrictHandlerWithOptions(handlers{d, newTurns(), newImporters()}, []StrictMiddlewareFunc{strictBody},
		StrictHTTPServerOptions{
			RequestErrorHandlerFunc:  func(w http.ResponseWriter, r *http.Request, err error) { p.answer(w, r, badBody(err)) },
			ResponseErrorHandlerFunc: p.answer,
		})
	HandlerWithOptions(strict, StdHTTPServerOptions{
		BaseRouter: mux, ErrorHandlerFunc: p.answer,
		Middlewares: []MiddlewareFunc{func(next http.Handler) http.Handler { return boundedJSON(p, next) }},
	})
	mux.HandleFunc(get+"/api/agent-runs/{run_id}/events", runEvents{Deps: d, policy: &g.policy, metrics: metrics, problems: p, shelf: newShelf()}.ServeHTTP)
	omni := conversation{Deps: d, policy: &g.policy, metrics: metrics, problems: p}
	mux.HandleFunc(get+"/api/sessions/{session_id}/messages", omni.history)
	mux.HandleFunc(get+"/api/sessions/{session_id}/stream", omni.stream)
	mux.HandleFunc(get+"/client/attachments/{attachment_id}/content", fileContent{Deps: d, problems: p}.ServeHTTP)
	mux.HandleFunc(get+"/client/ws", d.ClientSocket.ServeHTTP)
	mux.HandleFunc(get+"/v1/ws", d.CardSocket.ServeHTTP)
	mux.HandleFunc(get+"/edge/uplink", d.EdgeUplink.ServeHTTP)
	mux.HandleFunc(get+"/metrics", d.Metrics.Handler().ServeHTTP)
	mux.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { p.answer(w, r, notThere()) })
	return observer{log: d.Log, metrics: metrics, problems: p, next: bouncer{surplus: d.Surplus, problems: p, next: mux}}
}

// Only serves one path of the surface: everything else is not there.
func Only(surface http.Handler, path string, problem func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			problem(w, r, notThere())
			return
		}
		surface.ServeHTTP(w, r)
	})
}

// AnswerProblem returns the writer of problems for the sockets' handlers.
func AnswerProblem(log *slog.Logger) func(http.ResponseWriter, *http.Request, error) {
	return problems{log: log}.answer
}

// guardedMux puts the guard in front of every route that anybody registers.
type guardedMux struct {
	mux   *http.ServeMux
	guard *guard
}

// HandleFunc implements the generated ServeMux.
func (m guardedMux) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	m.mux.Handle(pattern, m.guard.protect(pattern, http.HandlerFunc(handler)))
}

// ServeHTTP routes a request.
func (m guardedMux) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.mux.ServeHTTP(w, r) }
