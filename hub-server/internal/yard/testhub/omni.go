package testhub

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/omni/trace"
)

// omniPage is how many messages a page has: few, so that there are several.
const omniPage = 3

// Tell adds OmniMessages to a conversation, one place each.
func (h *Hub) Tell(session client.SessionID, lines ...omni.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Omni[session] = append(h.Omni[session], lines...)
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *Hub) routeOmni(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/sessions/{id}/messages", get(h, h.omniMessages))
	mux.HandleFunc("GET /api/sessions/{id}/stream", h.serveOmniStream)
	mux.HandleFunc("GET /api/sessions/{id}/traces", get(h, h.listTraces))
	mux.HandleFunc("POST /api/traces", h.serveImport)
}

// place is the place of a cursor, 0 for the beginning.
func place(cursor string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(cursor, "epoch-"))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	return n
}

// placed is a message as the history has it.
type placed struct {
	Position string       `json:"position"`
	Message  omni.Message `json:"message"`
}

func (h *Hub) omniMessages(r *http.Request) any {
	all := h.Omni[r.PathValue("id")]
	at := place(r.URL.Query().Get("after"))
	page := struct {
		Messages []placed `json:"messages"`
		Cursor   string   `json:"cursor"`
		More     bool     `json:"more"`
		Floor    string   `json:"floor,omitempty"`
	}{Messages: []placed{}, Floor: h.Floor}
	for ; at < len(all) && len(page.Messages) < omniPage; at++ {
		if !all[at].IsPartial() {
			page.Messages = append(page.Messages, placed{fmt.Sprintf("epoch-%d.0", at+1), all[at]})
		}
	}
	page.Cursor, page.More = fmt.Sprintf("epoch-%d", at), at < len(all)
	return page
}

func (h *Hub) serveOmniStream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	at := place(r.URL.Query().Get("after"))
	fmt.Fprintf(w, "id: epoch-%d\n\n", at)
	h.Change(func() { h.sockets++ })
	defer h.Change(func() { h.sockets-- })
	for {
		var lines []omni.Message
		var changed chan struct{}
		h.Change(func() { lines, changed = h.Omni[r.PathValue("id")][at:], h.changed })
		for _, m := range lines {
			at++
			fmt.Fprintf(w, "id: epoch-%d\ndata: %s\n\n", at, m.Bytes())
		}
		if http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

func (h *Hub) listTraces(r *http.Request) any {
	list := client.TraceList{Traces: []client.Trace{}}
	split, sums := trace.NewSplitter(r.PathValue("id")), map[string]*trace.Sum{}
	var order []string
	for _, m := range h.Omni[r.PathValue("id")] {
		record, ok := split.Add(m)
		if !ok {
			continue
		}
		if sums[record.File] == nil {
			sums[record.File], order = &trace.Sum{}, append(order, record.File)
		}
		sums[record.File].Add(record.Message.Line())
	}
	for _, name := range order {
		d := sums[name].Digest(name)
		list.Traces = append(list.Traces, client.Trace{Name: name, SessionID: "s", Lines: d.Lines, Bytes: d.Bytes, Sha256: d.SHA256, From: "epoch-1.0", To: "epoch-1.0"})
	}
	return list
}

func (h *Hub) serveImport(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	var lines []omni.Message
	for line, err := range trace.Read(strings.NewReader(string(body))) {
		if err != nil || line.Err != nil {
			problem(w, http.StatusBadRequest, client.ProblemCodeInvalidRequest, fmt.Sprintf("line %d is wrong", line.Number))
			return
		}
		lines = append(lines, line.Message)
	}
	stream, err := trace.Join(lines)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	session := client.SessionID(id.NewSession())
	h.Tell(session, stream...)
	h.Change(func() {
		h.Sessions = append(h.Sessions, client.Session{ID: session, UpdatedAt: time.Now(), ReadOnly: true})
	})
	answer(w, http.StatusCreated, client.ImportedTrace{SessionID: session})
}
