package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// fakeHub is as much of a hub as this package talks to. A test drives the far end of each socket that the client opens.
type fakeHub struct {
	t         testing.TB
	server    *httptest.Server
	transport *http.Transport
	sockets   chan *farEnd

	mu        sync.Mutex
	access    string // the only access token that is taken
	refresh   string // the only refresh token that is taken
	renewals  int
	logins    int
	refuse    func(w http.ResponseWriter) bool // for /client/ws: answers instead of upgrading
	renewable bool
	strict    bool        // a frame from the client fails the test
	said      chan string // if not nil, gets the frames from the client
	events    http.HandlerFunc
	messages  []Message     // of the one conversation that there is
	slowly    chan struct{} // if not nil, a renewal takes from it when it comes and before it answers
}

func newFakeHub(t testing.TB) *fakeHub {
	t.Helper()
	h := &fakeHub{t: t, transport: &http.Transport{}}
	h.start(nil)
	return h
}

// newPipeHub talks over pipes in memory, so that it can live in a synctest bubble.
func newPipeHub(t testing.TB) *fakeHub {
	t.Helper()
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	h := &fakeHub{t: t, transport: &http.Transport{DialContext: l.dial}}
	h.start(l)
	return h
}

func (h *fakeHub) start(l net.Listener) {
	h.sockets = make(chan *farEnd, 16)
	h.access, h.refresh, h.renewable = "access-0", "refresh-0", true
	mux := http.NewServeMux()
	mux.HandleFunc("POST /client/auth/refresh", h.serveRefresh)
	mux.HandleFunc("POST /client/auth/login", func(w http.ResponseWriter, _ *http.Request) {
		h.logins++
		json.NewEncoder(w).Encode(Tokens{AccessToken: "access-0", RefreshToken: "refresh-0", ExpiresIn: 900, User: User{Username: "ada"}})
	})
	mux.HandleFunc("GET /client/auth/me", h.serveMe)
	mux.HandleFunc("POST /client/sessions/group", h.serveGroup)
	mux.HandleFunc("GET /client/ws", h.serveSocket)
	mux.HandleFunc("GET /v1/ws", h.serveSocket)
	mux.HandleFunc("GET /client/sessions", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(SessionList{Items: []Session{{ID: "sess_1", LastSeq: int64(len(h.messages)), UpdatedAt: time.Now()}}})
	})
	mux.HandleFunc("GET /client/sessions/{session}/messages", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(MessageList{Items: h.messages})
	})
	mux.HandleFunc("GET /client/sessions/{session}/messages/sync", func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.Atoi(r.URL.Query().Get("after_seq"))
		json.NewEncoder(w).Encode(MessageList{Items: h.messages[after:]})
	})
	mux.HandleFunc("GET /web/agent-tasks/{task}/events", func(w http.ResponseWriter, r *http.Request) { h.events(w, r) })
	nothing := func(w http.ResponseWriter, _ *http.Request) { h.problem(w, http.StatusNotFound, ProblemCodeNotFound) }
	mux.HandleFunc("/client/prompts", nothing)
	mux.HandleFunc("/client/notifications", nothing)
	mux.HandleFunc("/client/contacts", nothing)
	mux.HandleFunc("/client/sessions/{session}", nothing)
	mux.HandleFunc("/client/sessions/{session}/messages/changes", nothing)
	mux.HandleFunc("/web/", nothing)
	h.server = httptest.NewUnstartedServer(mux)
	if l != nil {
		h.server.Listener.Close()
		h.server.Listener = l
	}
	h.server.Start()
	h.t.Cleanup(func() {
		h.transport.CloseIdleConnections()
		h.server.CloseClientConnections()
		h.server.Close()
	})
}

// client returns a client whose access token is good for the given time.
func (h *fakeHub) client(good time.Duration) (*Client, *MemoryKeeper) {
	h.t.Helper()
	keeper := NewMemoryKeeper(Credentials{AccessToken: "access-0", RefreshToken: "refresh-0", ExpiresAt: time.Now().Add(good)})
	c, err := New(Options{Hub: h.server.URL, Keeper: keeper, Transport: h.transport, UserAgent: "test"})
	if err != nil {
		h.t.Fatal(err)
	}
	return c, keeper
}

func (h *fakeHub) problem(w http.ResponseWriter, status int, code ProblemCode) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(Problem{Code: code, Detail: "No.", Status: status, TraceID: "4bf92f3577b34da6a3ce929d0e0e4736"})
}

func (h *fakeHub) authorised(r *http.Request) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return r.Header.Get("Authorization") == "Bearer "+h.access
}

// expire makes the hub refuse the present access token.
func (h *fakeHub) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.access = "nothing is good now"
}

func (h *fakeHub) renewed() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.renewals
}

func (h *fakeHub) serveRefresh(w http.ResponseWriter, r *http.Request) {
	var in RefreshInput
	json.NewDecoder(r.Body).Decode(&in)
	if h.slowly != nil {
		<-h.slowly
		<-h.slowly
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if in.RefreshToken != h.refresh || !h.renewable {
		h.problem(w, http.StatusUnauthorized, ProblemCodeUnauthenticated)
		return
	}
	h.renewals++
	h.access, h.refresh = fmt.Sprintf("access-%d", h.renewals), fmt.Sprintf("refresh-%d", h.renewals)
	json.NewEncoder(w).Encode(Tokens{AccessToken: h.access, RefreshToken: h.refresh, ExpiresIn: 900, User: User{Username: "ada"}})
}

func (h *fakeHub) serveMe(w http.ResponseWriter, r *http.Request) {
	if !h.authorised(r) {
		h.problem(w, http.StatusUnauthorized, ProblemCodeUnauthenticated)
		return
	}
	json.NewEncoder(w).Encode(Me{User: User{Username: "ada"}})
}

func (h *fakeHub) serveGroup(w http.ResponseWriter, r *http.Request) {
	var in GroupSessionInput
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || !h.authorised(r) {
		h.problem(w, http.StatusUnauthorized, ProblemCodeUnauthenticated)
		return
	}
	json.NewEncoder(w).Encode(Session{Name: in.Name})
}

func (h *fakeHub) serveSocket(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	refuse := h.refuse
	h.mu.Unlock()
	if refuse != nil && refuse(w) {
		return
	}
	if !h.authorised(r) {
		h.problem(w, http.StatusUnauthorized, ProblemCodeUnauthenticated)
		return
	}
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer socket.CloseNow()
	end := &farEnd{t: h.t, socket: socket, cursor: r.URL.Query().Get("cursor")}
	h.sockets <- end
	for { // until the connection is over
		_, frame, err := socket.Read(context.Background())
		if err != nil {
			return
		}
		if h.said != nil {
			h.said <- string(frame)
		}
		if h.strict {
			h.t.Errorf("the client sent %s", frame)
		}
	}
}

// farEnd is the hub's side of a socket.
type farEnd struct {
	t      testing.TB
	socket *websocket.Conn
	cursor string // what the client asked to go on from
	seq    int64
}

func (e *farEnd) send(typ HubWebSocketFrameType, payload, cursor string) {
	e.t.Helper()
	e.seq++
	frame, _ := json.Marshal(HubWebSocketFrame{Type: typ, SeqID: e.seq, Payload: []byte(payload), Cursor: cursor})
	e.sendRaw(frame)
}

func (e *farEnd) sendRaw(frame []byte) {
	e.t.Helper()
	if err := e.socket.Write(context.Background(), websocket.MessageText, frame); err != nil {
		e.t.Errorf("send: %v", err)
	}
}

func (e *farEnd) hello(resume, cursor string) {
	e.t.Helper()
	e.send(HubWebSocketFrameTypeAuthOk, fmt.Sprintf(`{"resume":%q,"connection_id":"conn_1"}`, resume), cursor)
}

func (e *farEnd) message(id, cursor string) {
	e.t.Helper()
	e.send(HubWebSocketFrameTypeMessageNew, fmt.Sprintf(`{"id":%q}`, id), cursor)
}

// follower pulls events one by one.
type follower struct {
	t    testing.TB
	next func() (Event, error, bool)
}

func follow(t testing.TB, c *Client, at Position) *follower {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	next, stop := iter.Pull2(c.Stream(ctx, at))
	t.Cleanup(func() { stop(); cancel() })
	return &follower{t: t, next: next}
}

func (f *follower) event() Event {
	f.t.Helper()
	e, err, ok := f.next()
	if err != nil || !ok {
		f.t.Fatalf("stream ended: %v", err)
	}
	return e
}

func (f *follower) up() Event {
	f.t.Helper()
	e := f.event()
	if e.Link != LinkUp {
		f.t.Fatalf("got %+v, want the link to be up", e)
	}
	return e
}

func (f *follower) down() error {
	f.t.Helper()
	e := f.event()
	if e.Link != LinkDown || e.Err == nil {
		f.t.Fatalf("got %+v, want the link to be down", e)
	}
	return e.Err
}

func (f *follower) frame(key string) {
	f.t.Helper()
	e := f.event()
	if e.Frame == nil || Key(*e.Frame) != key {
		f.t.Fatalf("got %+v, want %s", e, key)
	}
}

// end wants the stream to be over and returns its error.
func (f *follower) end() error {
	f.t.Helper()
	e, err, ok := f.next()
	if !ok || err == nil {
		f.t.Fatalf("got %+v, want the end", e)
	}
	if _, _, ok := f.next(); ok {
		f.t.Fatal("something after the end")
	}
	return err
}

// place is a Position in memory.
type place struct {
	mu     sync.Mutex
	cursor string
	broken bool
}

func (p *place) LoadCursor() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cursor, nil
}

func (p *place) SaveCursor(cursor string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		return errors.New("disk full")
	}
	p.cursor = cursor
	return nil
}

func (p *place) at() string { c, _ := p.LoadCursor(); return c }

// pipeListener gives out connections that exist in memory only.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, io.ErrClosedPipe
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
