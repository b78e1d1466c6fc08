// Package cards serves /v1/ws: the cards of one conversation for each connection (S0). What is said when is decided in talk; here are the sockets,
// what has to be done, and the limits.
package cards

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/gate"
	"github.com/switchyard-dev/switchyard/hub-server/internal/gate/cards/talk"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// What a hub allows when nothing else is said.
const (
	defaultPerUser = 10
	defaultOpening = 1000
)

var defaultInbound = gate.Rate{PerSecond: 10, Burst: 20}

// OpenRuns knows what is under way in conversations. Safe for concurrent use.
type OpenRuns interface {
	// OpenRuns returns the runs of the conversation that are not over.
	OpenRuns(ctx context.Context, s id.Session) ([]id.Run, error)
}

// Deps is what a Server works with.
type Deps struct {
	Log     *slog.Logger
	Metrics *telemetry.Registry
	Devices gate.Devices
	Traces  Traces

	Sessions *chat.Sessions
	Messages *chat.Messages
	Files    *chat.Attachments
	Agents   *fleet.Agents
	Prompts  *prompt.Prompts
	Runs     *runlog.Runs
	Open     OpenRuns
	Tools    chat.ToolStore

	// Origins of browser pages that may connect, exactly as a browser writes them: scheme://host[:port].
	Origins []string
	// PerUser is how many connections one user may have here; 0 means 10.
	PerUser int
	// Opening is how many connections may be on their way in here at once, from the request to the first frame; 0 means 1000.
	Opening int
	// Inbound is how many frames a client may send; zero means 10 a second, 20 at once. Those above wait.
	Inbound gate.Rate
	// Problem answers a request that is refused before the upgrade.
	Problem func(http.ResponseWriter, *http.Request, error)
}

// Server serves GET /v1/ws and owns the connections of this hub process. Safe for concurrent use.
type Server struct {
	Deps
	pace    pace
	metrics *metrics
	door    gate.Admission
	opening gate.Doorway
	sockets gate.Sockets
	roll    *roll
}

// New returns a server; it serves until Run ends.
func New(d Deps) *Server {
	d.PerUser, d.Opening, d.Inbound = cmp.Or(d.PerUser, defaultPerUser), cmp.Or(d.Opening, defaultOpening), cmp.Or(d.Inbound, defaultInbound)
	return &Server{
		Deps: d, pace: usualPace(), metrics: newMetrics(d.Metrics), door: gate.NewAdmission(d.Devices, d.Origins),
		opening: gate.NewDoorway(d.Opening), roll: newRoll(d.PerUser),
	}
}

// Run serves until ctx ends; then it lets nobody in any more, closes every connection with 1012 and waits for them.
func (s *Server) Run(ctx context.Context) error {
	<-ctx.Done()
	for _, c := range s.roll.shut() {
		c.end(restart())
	}
	s.roll.open.Wait()
	return nil
}

// ServeHTTP judges the credential, upgrades, and leaves the connection to goroutines of its own.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.opening.Enter() {
		s.refuse(w, r, fault.New(fault.Busy, "Too many clients connect at this moment. Connect again in a moment."))
		return
	}
	defer s.opening.Leave()
	who, err := s.door.Admit(r)
	if err == nil {
		err = s.roll.reserve(who)
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	c := s.newConn(who, r.URL.Query().Get("session_id"), language(r))
	if c.socket, err = s.sockets.Accept(w, r, gate.Hooks{Wake: c.wakeUp, Ponged: c.sign}); err != nil {
		s.roll.free(who)
		s.Log.Info("client upgrade failed", "error", err)
		return
	}
	s.start(c) //nolint:contextcheck // the connection outlives its request
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	s.metrics.refused.With(string(fault.CodeOf(err))).Inc()
	s.Problem(w, r, err)
}

// language is that of sentences for people: the protocol's own, unless the client asks for English.
func language(r *http.Request) card.Language {
	if first, _, _ := strings.Cut(r.Header.Get("Accept-Language"), ","); strings.HasPrefix(strings.ToLower(strings.TrimSpace(first)), "en") {
		return card.English
	}
	return card.Chinese
}

func (s *Server) newConn(who account.Principal, named string, lang card.Language) *conn {
	c := &conn{
		server: s, id: id.NewConnection(), who: who, inbox: gate.NewBucket(s.Inbound), wake: make(chan struct{}, 1), room: make(chan struct{}, 1),
		talk: talk.New(named, lang),
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.sign()
	return c
}

func (s *Server) start(c *conn) {
	if refused := s.roll.add(c); refused != nil {
		c.end(refused)
	}
	s.metrics.connections.Inc()
	go func() {
		defer s.roll.remove(c)
		defer s.metrics.connections.Dec()
		c.serve()
	}()
}

// CloseFamily closes the sockets of a login that has ended. It does not block.
func (s *Server) CloseFamily(f account.Family) {
	for _, c := range s.roll.endFamily(f) {
		c.end(loginEnded())
	}
}

// Seen has connections look again at conversations of which something was committed that is no card. It does not block.
func (s *Server) Seen(rows []delivery.Row) {
	for i := range rows {
		row := &rows[i]
		session, ok := row.Audience.Session()
		switch {
		case row.Change == delivery.Left:
			s.roll.lookAgain(row.Session)
		case ok && strings.HasPrefix(row.FrameType, "session."):
			s.roll.lookAgain(session)
		}
	}
}
