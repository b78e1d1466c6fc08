package testhub

import (
	"net/http"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Steered is what was said to runs at work.
type Steered struct {
	Session client.SessionID
	Text    string
}

// routeControl serves what people do to the work of a conversation. A conversation is at work while the newest of its runs is.
func (h *Hub) routeControl(mux *http.ServeMux) {
	const session = "/api/sessions/{id}"
	mux.HandleFunc("GET "+session, get(h, func(r *http.Request) any { return h.conversation(r.PathValue("id")) }))
	mux.HandleFunc("PATCH "+session, func(w http.ResponseWriter, r *http.Request) {
		in := read[client.OmniSessionChange](r)
		if in.ApprovalMode == nil {
			problem(w, http.StatusBadRequest, client.ProblemCodeInvalidRequest, "approvalMode is missing.")
			return
		}
		h.Change(func() { h.Modes[r.PathValue("id")] = *in.ApprovalMode })
		get(h, func(r *http.Request) any { return h.conversation(r.PathValue("id")) })(w, r)
	})
	mux.HandleFunc("POST "+session+"/steer", h.atWork(func(w http.ResponseWriter, r *http.Request) {
		in := read[client.OmniSteerInput](r)
		h.Steers = append(h.Steers, Steered{Session: r.PathValue("id"), Text: in.Text})
		answer(w, http.StatusAccepted, client.OmniSteerReceipt{SteerID: client.SteerID(id.NewSteer())})
	}))
	mux.HandleFunc("POST "+session+"/retry-now", h.atWork(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, client.OmniRetryReceipt{Skipped: h.Waits})
	}))
	mux.HandleFunc("POST "+session+"/compact", h.atWork(func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusAccepted, client.OmniCompactReceipt{RunID: h.conversation(r.PathValue("id")).Runs[0]})
	}))
	mux.HandleFunc("POST "+session+"/abort", h.atWork(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }))
}

// conversation is how one stands; the lock is held.
func (h *Hub) conversation(session client.SessionID) client.OmniConversation {
	c := client.OmniConversation{SessionID: session, State: "idle", Runs: []client.RunID{}, ApprovalMode: h.Modes[session]}
	if i := slices.IndexFunc(h.Sessions, func(s client.Session) bool { return s.ID == session }); i >= 0 {
		c.Title = h.Sessions[i].Name
	}
	for _, t := range h.Tasks {
		if t.SessionID == session && (t.State == client.RunStateRunning || t.State == client.RunStateWaitingPerson) {
			c.Runs, c.State = append(c.Runs, t.ID), "running"
		}
	}
	return c
}

func (h *Hub) atWork(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.conversation(r.PathValue("id")).Runs) == 0 {
			problem(w, http.StatusConflict, client.ProblemCodeNotRunning, "No task is at work in this conversation. Begin one.")
			return
		}
		serve(w, r)
	}
}
