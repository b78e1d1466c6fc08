package client

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// omniHub is as much of a hub as an OmniSession talks to: one conversation whose log has places, each with the messages of one event.
type omniHub struct {
	t         testing.TB
	server    *httptest.Server
	transport *http.Transport

	mu       sync.Mutex
	changed  chan struct{} // closed with each change
	epoch    string
	floor    int                  // places up to it are not kept
	places   [][]omni.Message     // place n is places[n-1]
	active   []string             // runs that are not over
	ends     map[string]AgentTask // how runs ended that did not just complete
	runs     []string             // of them, that have begun
	lazy     bool                 // runs begin when the test says so
	asks     map[string]OmniApproval
	tasks    map[string]string               // runs by key
	bodies   map[string][]string             // what was sent, by method and path
	streams  []string                        // the after of each connection
	budget   func() int                      // how many bytes a connection brings; nil or below 0: all
	refuse   map[string]func() (int, string) // by method and path: a status and a code, 0 for none
	pings    bool
	answers  map[string]restAnswer     // of other operations, by method and path
	script   func(http.ResponseWriter) // plays a stream, in place of what has happened
	accepted func(run string)          // a task was taken
}

const omniPath = "/api/sessions/sess_1"

func newOmniHub(t testing.TB) *omniHub {
	t.Helper()
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	h := &omniHub{
		t: t, transport: &http.Transport{DialContext: l.dial}, changed: make(chan struct{}), epoch: "0badcafe", asks: map[string]OmniApproval{},
		tasks: map[string]string{}, bodies: map[string][]string{}, refuse: map[string]func() (int, string){}, ends: map[string]AgentTask{}, pings: true, answers: map[string]restAnswer{}, accepted: func(string) {},
	}
	h.server = httptest.NewUnstartedServer(h)
	h.server.Listener.Close()
	h.server.Listener = l
	h.server.Start()
	t.Cleanup(func() {
		h.transport.CloseIdleConnections()
		h.server.CloseClientConnections()
		h.server.Close()
	})
	return h
}

func inOmniBubble(t *testing.T, test func(t *testing.T, h *omniHub)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newOmniHub(t)) })
}

func (h *omniHub) session() *OmniSession {
	h.t.Helper()
	keeper := NewMemoryKeeper(Credentials{AccessToken: "access", RefreshToken: "refresh", ExpiresAt: time.Now().Add(24 * time.Hour)})
	c, err := New(Options{Hub: h.server.URL, Keeper: keeper, Transport: h.transport})
	if err != nil {
		h.t.Fatal(err)
	}
	return c.Session("sess_1")
}

func (h *omniHub) change(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	close(h.changed)
	h.changed = make(chan struct{})
}

// say adds a place.
func (h *omniHub) say(payloads ...omni.Payload) {
	h.t.Helper()
	messages := make([]omni.Message, len(payloads))
	for i, p := range payloads {
		var err error
		if messages[i], err = omni.New(time.Now(), p); err != nil {
			h.t.Error(err)
		}
	}
	h.change(func() { h.places = append(h.places, messages) })
}

// end says that a run is over, which everything that it has said comes before.
func (h *omniHub) end(run string) {
	other := func(r string) bool { return r == run }
	h.change(func() { h.active, h.runs = slices.DeleteFunc(h.active, other), slices.DeleteFunc(h.runs, other) })
}

func (h *omniHub) cursor(place int) string { return fmt.Sprintf("%s-%d", h.epoch, place) }

// told are the lines behind a place, in order.
func (h *omniHub) told(after int) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	lines := []string{}
	for _, messages := range h.places[after:] {
		for _, m := range messages {
			lines = append(lines, string(m.Bytes()))
		}
	}
	return lines
}

func (h *omniHub) sent(key string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.bodies[key])
}

func (h *omniHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, omniPath)
	key := r.Method + " " + path
	if r.Header.Get("Authorization") != "Bearer access" {
		h.t.Errorf("%s without a token", key)
	}
	body := new(strings.Builder)
	if r.Body != nil {
		text := make([]byte, r.ContentLength)
		r.Body.Read(text)
		body.Write(text)
	}
	h.mu.Lock()
	h.bodies[key] = append(h.bodies[key], body.String())
	refuse := h.refuse[key]
	h.mu.Unlock()
	if refuse != nil {
		if status, code := refuse(); status > 0 {
			answer(w, restAnswer{Status: status, Body: fmt.Appendf(nil, `{"code":%q,"detail":"No."}`, code)})
			return
		}
	}
	if run, is := strings.CutPrefix(key, "GET /web/agent-tasks/"); is {
		h.outcome(w, run)
		return
	}
	switch key {
	case "GET /stream":
		h.stream(w, r)
	case "GET /messages":
		h.messages(w, r)
	case "GET ":
		h.mu.Lock()
		text, _ := json.Marshal(map[string]any{"state": "running", "runs": h.active})
		h.mu.Unlock()
		answer(w, restAnswer{Body: text})
	case "POST /tasks":
		h.task(w, r)
	default:
		if a, known := h.answers[key]; known {
			answer(w, a)
			return
		}
		answer(w, restAnswer{Status: http.StatusNoContent})
	}
}

func (h *omniHub) task(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	h.mu.Lock()
	run, known := h.tasks[key]
	if !known {
		run = fmt.Sprintf("run_%016d", len(h.tasks)+1)
		h.tasks[key] = run
	}
	h.mu.Unlock()
	if !known {
		h.change(func() {
			h.active = append(h.active, run)
			if !h.lazy {
				h.runs = append(h.runs, run)
			}
		})
		h.accepted(run)
	}
	answer(w, restAnswer{Status: http.StatusAccepted, Body: fmt.Appendf(nil, `{"sessionId":"sess_1","messageId":"msg_1","runId":%q}`, run)})
}

// outcome says how a run ended.
func (h *omniHub) outcome(w http.ResponseWriter, run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	end, known := h.ends[run]
	switch end.ID = run; {
	case slices.Contains(h.active, run):
		h.t.Errorf("%s was asked for while it is at work", run)
	case !known:
		end.State = RunStateCompleted
	}
	text, err := encode(end)
	if err != nil {
		h.t.Error(err)
	}
	answer(w, restAnswer{Body: text})
}

// messages pages forward, two at a time.
func (h *omniHub) messages(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	after := h.floor
	if cursor := r.URL.Query().Get("after"); cursor != "0" {
		_, place, _ := strings.Cut(cursor, "-")
		after, _ = strconv.Atoi(place)
	}
	page := OmniPage{Cursor: h.cursor(after), Messages: []OmniPlaced{}}
	for ; after < len(h.places) && len(page.Messages) < 2; after++ {
		for n, m := range h.places[after] {
			if !m.IsPartial() {
				page.Messages = append(page.Messages, OmniPlaced{Position: fmt.Sprintf("%s.%d", h.cursor(after+1), n), Message: m})
			}
		}
		page.Cursor = h.cursor(after + 1)
	}
	page.More = after < len(h.places)
	text, err := encode(page)
	if err != nil {
		h.t.Error(err)
	}
	answer(w, restAnswer{Body: text})
}

// cutting is a response that ends in the middle after so many bytes.
type cutting struct {
	http.ResponseWriter
	left int // below 0: all
}

func (c *cutting) write(text string) {
	if c.left >= 0 && len(text) > c.left {
		_, _ = c.Write([]byte(text[:c.left]))
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	if c.left >= 0 {
		c.left -= len(text)
	}
	_, _ = c.Write([]byte(text))
	c.ResponseWriter.(http.Flusher).Flush()
}

// stream tells what follows a cursor: what is at work was read before what is told until then.
func (h *omniHub) stream(w http.ResponseWriter, r *http.Request) {
	out := &cutting{ResponseWriter: w, left: -1}
	after := r.URL.Query().Get("after")
	h.mu.Lock()
	h.streams = append(h.streams, after)
	if h.budget != nil {
		out.left = h.budget()
	}
	at, resync := len(h.places), ""
	epoch, place, _ := strings.Cut(after, "-")
	switch n, _ := strconv.Atoi(place); {
	case after == "":
	case after == "0":
		at = h.floor
	case epoch != h.epoch:
		resync = "epoch"
	case n < h.floor:
		resync = "trimmed"
	default:
		at = n
	}
	first := h.cursor(at)
	h.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	out.write("id: " + first + "\n\n")
	if h.script != nil {
		h.script(w)
		return
	}
	if resync != "" {
		out.write(`event: server_event` + "\n" + `data: {"type":"resync_required","reason":"` + resync + `"}` + "\n\n")
	}
	h.live(r.Context(), out, at)
}

func (h *omniHub) live(ctx context.Context, out *cutting, at int) {
	state := ""
	asked := map[string]bool{}
	for {
		h.mu.Lock()
		runs, asks, changed := slices.Clone(h.runs), maps.Clone(h.asks), h.changed
		news := h.places[at:]
		h.mu.Unlock()
		for _, messages := range news {
			at++
			text := ""
			for i, m := range messages {
				if i == len(messages)-1 {
					text += "id: " + h.cursor(at) + "\n"
				}
				text += "data: " + string(m.Bytes()) + "\n\n"
			}
			out.write(text)
		}
		said, _ := json.Marshal(map[string]any{"type": "task_state", "state": "idle", "runs": runs})
		if string(said) != state {
			state = string(said)
			out.write("event: server_event\ndata: " + state + "\n\n")
		}
		for id, ask := range asks {
			if !asked[id] {
				asked[id] = true
				text, _ := json.Marshal(map[string]any{"type": "approval_request", "requestId": id, "toolCall": ask.ToolCall})
				out.write("event: server_event\ndata: " + string(text) + "\n\n")
			}
		}
		select {
		case <-changed:
		case <-time.After(20 * time.Second):
			if h.pings {
				out.write(": ping\n\n")
			}
		case <-ctx.Done():
			return
		}
	}
}
