package client

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// scriptedHub does what a scenario says, and notes what it is asked for.
type scriptedHub struct {
	t         *testing.T
	scenario  scenario
	server    *httptest.Server
	transport *http.Transport

	mu       sync.Mutex
	next     int       // of the connections
	ended    time.Time // of the connection before
	requests map[string]int
	asked    map[string]time.Time // when a request came last
}

func newScriptedHub(t *testing.T, s scenario) *scriptedHub {
	t.Helper()
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	h := &scriptedHub{t: t, scenario: s, transport: &http.Transport{DialContext: l.dial}, requests: map[string]int{}, asked: map[string]time.Time{}, ended: time.Now()}
	h.server = httptest.NewUnstartedServer(h)
	h.server.Listener.Close()
	h.server.Listener = l
	h.server.Start()
	return h
}

// stop returns when no request is being answered any more.
func (h *scriptedHub) stop() {
	h.transport.CloseIdleConnections()
	h.server.CloseClientConnections()
	h.server.Close()
}

// made is how many connections were made.
func (h *scriptedHub) made() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.next
}

func (h *scriptedHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/client/ws" {
		h.serveSocket(w, r)
		return
	}
	key := r.Method + " " + r.URL.Path
	h.mu.Lock()
	answers, n, since := h.scenario.REST[key], h.requests[key], time.Since(h.asked[key])
	h.requests[key]++
	h.asked[key] = time.Now()
	h.mu.Unlock()
	switch {
	case len(answers) > 0:
		a := answers[min(n, len(answers)-1)]
		if !within(since, a.AfterMS) {
			h.t.Errorf("%s, time %d: asked after %v, want %v ms", key, n+1, since, a.AfterMS)
		}
		answer(w, a)
	case key == "POST /client/auth/refresh":
		json.NewEncoder(w).Encode(Tokens{AccessToken: "access-1", RefreshToken: "refresh-1", ExpiresIn: 86400})
	default:
		answer(w, restAnswer{Status: http.StatusNotFound, Body: json.RawMessage(`{"code":"not_found","detail":"There is none."}`)})
	}
}

// within says whether d lies between two numbers of milliseconds, if there are any.
func within(d time.Duration, ms []int64) bool {
	return len(ms) != 2 || d >= time.Duration(ms[0])*time.Millisecond && d <= time.Duration(ms[1])*time.Millisecond
}

func answer(w http.ResponseWriter, a restAnswer) {
	if a.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(a.RetryAfter))
	}
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.Status)
	w.Write(a.Body)
}

func (h *scriptedHub) serveSocket(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	number, since := h.next, time.Since(h.ended)
	h.next++
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.ended = time.Now()
	}()
	if number >= len(h.scenario.Connections) {
		h.t.Errorf("connection %d: nobody expects it", number+1)
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	script := h.scenario.Connections[number]
	if got := r.URL.Query().Get("cursor"); got != script.Cursor {
		h.t.Errorf("connection %d: cursor %q, want %q", number+1, got, script.Cursor)
	}
	if !within(since, script.AfterMS) {
		h.t.Errorf("connection %d: made after %v, want %v ms", number+1, since, script.AfterMS)
	}
	if script.Refuse != nil {
		answer(w, *script.Refuse)
		return
	}
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		h.t.Error(err)
		return
	}
	defer socket.CloseNow()
	h.perform(r.Context(), socket, script.Script)
}

// perform plays one connection. Steps after the client has hung up have nobody who sees them.
func (h *scriptedHub) perform(ctx context.Context, socket *websocket.Conn, script []step) {
	closed := socket.CloseRead(ctx).Done()
	last := int64(0)
	for _, s := range script {
		switch {
		case s.Send != nil:
			var f HubWebSocketFrame
			if err := json.Unmarshal(s.Send, &f); err != nil {
				h.t.Errorf("frame %s: %v", s.Send, err)
			}
			last = max(last, f.SeqID)
			h.send(ctx, socket, compact(h.t, s.Send))
		case s.Text != "":
			last++
			h.send(ctx, socket, []byte(s.Text))
		case s.Cut:
			return
		case s.Close != nil:
			socket.Close(websocket.StatusCode(s.Close.Code), s.Close.Reason)
			return
		case s.UntilClosed:
			<-closed
			return
		}
	}
	typing, _ := json.Marshal(TypingPayload{UserID: end, SessionID: h.scenario.Start.Session})
	frame, _ := json.Marshal(HubWebSocketFrame{Type: HubWebSocketFrameTypeTyping, SeqID: last + 1, Payload: typing})
	h.send(ctx, socket, frame)
	<-closed
}

func (h *scriptedHub) send(ctx context.Context, socket *websocket.Conn, text []byte) {
	_ = socket.Write(ctx, websocket.MessageText, text) // the client may have left on purpose; what it lacks is seen at the end
}

// compact is a frame as the file has it, without white space: the bytes that every hub of a scenario sends.
func compact(t testing.TB, raw json.RawMessage) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
