package testhub

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Handler answers as the hub.
func (h *Hub) Handler() http.Handler {
	open, closed := http.NewServeMux(), http.NewServeMux()
	open.HandleFunc("POST /client/auth/bootstrap", h.serveBootstrap)
	open.HandleFunc("POST /client/auth/login", h.serveLogin)
	open.HandleFunc("POST /client/auth/register", h.serveRegister)
	open.HandleFunc("GET /readyz", serveReady)
	open.Handle("/", bearerOnly(closed))
	closed.HandleFunc("GET /client/ws", h.serveSocket)
	closed.HandleFunc("GET /v1/ws", h.serveCards)
	closed.HandleFunc("POST /client/auth/logout", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	closed.HandleFunc("GET /client/auth/me", get(h, func(*http.Request) any { return client.Me{User: h.User, Device: client.Device{Name: "here"}} }))
	closed.HandleFunc("POST /client/invitations", get(h, func(*http.Request) any {
		return client.Invitation{ID: client.InvitationID(id.NewInvitation()), Token: "invitation-token", ExpiresAt: time.Now().Add(time.Hour)}
	}))
	closed.HandleFunc("GET /client/devices", get(h, func(*http.Request) any { return client.DeviceList{Items: h.Devices} }))
	closed.HandleFunc("POST /client/devices", h.serveDevice)
	closed.HandleFunc("DELETE /client/devices/{id}", h.serveRevokeDevice)
	h.routePush(closed)
	h.routeMessages(closed)
	h.routePeople(closed)
	h.routeNotifications(closed)
	closed.HandleFunc("GET /client/agents", get(h, func(*http.Request) any { return client.AgentList{Items: h.Agents} }))
	closed.HandleFunc("GET /client/edges", get(h, func(*http.Request) any { return client.EdgeList{Items: h.Edges} }))
	closed.HandleFunc("GET /client/edges/{id}", h.serveEdge)
	closed.HandleFunc("POST /client/edges/enrolments", get(h, func(*http.Request) any {
		return client.Enrolment{EdgeID: client.EdgeID(id.NewEdge()), Token: "enrolment-token", ExpiresAt: time.Now().Add(30 * time.Minute)}
	}))
	closed.HandleFunc("DELETE /client/edges/{id}", h.serveRevokeEdge)
	h.routeSessions(closed)
	h.routeControl(closed)
	closed.HandleFunc("POST /client/sessions/{id}/messages", h.serveMessage)
	closed.HandleFunc("GET /client/sessions/{id}/messages", get(h, h.listMessages))
	closed.HandleFunc("POST /client/messages/{id}/forward", h.serveForward)
	closed.HandleFunc("GET /client/sessions/{id}/messages/sync", get(h, h.syncMessages))
	closed.HandleFunc("GET /client/sessions/{id}/messages/changes", get(h, func(*http.Request) any {
		return client.MessageChangeList{Items: []client.Message{}}
	}))
	closed.HandleFunc("GET /client/search", get(h, h.searchMessages))
	closed.HandleFunc("GET /web/agent-tasks", get(h, func(*http.Request) any { return client.AgentTaskList{Items: h.Tasks} }))
	closed.HandleFunc("GET /web/agent-tasks/{id}", h.serveTask(http.StatusOK, nil))
	closed.HandleFunc("POST /web/agent-tasks/{id}/cancel", h.serveTask(http.StatusAccepted, stop))
	closed.HandleFunc("POST /web/agent-tasks/{id}/regenerate", h.serveAgain)
	closed.HandleFunc("GET /web/agent-tasks/{id}/events", h.serveEvents)
	closed.HandleFunc("GET /web/agent-tasks/{id}/artifacts", get(h, func(r *http.Request) any {
		return client.ArtifactList{Items: h.Artifacts[r.PathValue("id")]}
	}))
	closed.HandleFunc("GET /client/prompts", get(h, h.listPrompts))
	closed.HandleFunc("GET /client/sync", get(h, h.syncChanges))
	closed.HandleFunc("POST /web/agent-tasks/{id}/approvals/{request}", h.serveAnswer)
	h.routeFiles(closed)
	h.routeOmni(closed)
	closed.HandleFunc("GET /client/artifacts/{id}", h.serveArtifact)
	closed.HandleFunc("GET /client/artifacts/{id}/content", h.serveContent)
	return open
}

// routeSessions answers what is asked of conversations, but for their messages.
func (h *Hub) routeSessions(mux *http.ServeMux) {
	mux.HandleFunc("GET /client/sessions", get(h, h.listSessions))
	mux.HandleFunc("POST /client/sessions/group", h.serveGroup)
	mux.HandleFunc("GET /client/sessions/{id}", h.serveSession)
	mux.HandleFunc("POST /client/sessions/{id}/members", h.serveMember)
	mux.HandleFunc("PATCH /client/sessions/{id}/info", h.serveInfo)
	mux.HandleFunc("PATCH /client/sessions/{id}/settings", h.serveSettings)
	mux.HandleFunc("POST /client/sessions/{id}/transfer-owner", h.serveTransfer)
	mux.HandleFunc("POST /client/sessions/{id}/dissolve", h.serveDissolve)
	mux.HandleFunc("POST /client/sessions/{id}/leave", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
}

func bearerOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer access ") {
			problem(w, http.StatusUnauthorized, client.ProblemCodeUnauthenticated, "Log in first.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// get answers 200 with what fn returns under the lock.
func get(h *Hub, fn func(*http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		answer(w, http.StatusOK, fn(r))
	}
}

func (h *Hub) tokens(user client.User, device client.DeviceInput) client.Tokens {
	d := client.Device{ID: client.DeviceID(id.NewDevice()), Name: device.Name, Type: device.Type, CreatedAt: time.Now()}
	h.Devices = append([]client.Device{d}, h.Devices...)
	return client.Tokens{AccessToken: "access " + d.ID, RefreshToken: "refresh " + d.ID, ExpiresIn: 900, TokenType: "Bearer", User: user, Device: d}
}

func (h *Hub) serveBootstrap(w http.ResponseWriter, r *http.Request) {
	in := read[client.BootstrapInput](r)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.User.Username = in.Username
	answer(w, http.StatusCreated, h.tokens(h.User, in.Device))
}

func (h *Hub) serveRegister(w http.ResponseWriter, r *http.Request) {
	in := read[client.RegisterInput](r)
	h.mu.Lock()
	defer h.mu.Unlock()
	if in.Token != "invitation-token" {
		problem(w, http.StatusUnauthorized, client.ProblemCodeInvitationInvalid, "The invitation is used or expired.")
		return
	}
	answer(w, http.StatusCreated, h.tokens(client.User{ID: client.UserID(id.NewUser()), Username: in.Username}, in.Device))
}

func (h *Hub) serveLogin(w http.ResponseWriter, r *http.Request) {
	in := read[client.LoginInput](r)
	h.mu.Lock()
	defer h.mu.Unlock()
	if in.Password != Password || in.Username != h.User.Username {
		problem(w, http.StatusUnauthorized, client.ProblemCodeInvalidCredentials, "Wrong name or password.")
		return
	}
	answer(w, http.StatusOK, h.tokens(h.User, in.Device))
}

func serveReady(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, client.Health{Status: client.HealthStatusOk})
}

func (h *Hub) serveEdge(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.Edges, func(e client.Edge) bool { return e.ID == r.PathValue("id") })
	if i < 0 {
		problem(w, http.StatusNotFound, client.ProblemCodeNotFound, "No such edge.")
		return
	}
	answer(w, http.StatusOK, h.Edges[i])
}

func (h *Hub) serveDevice(w http.ResponseWriter, r *http.Request) {
	in := read[client.DeviceInput](r)
	h.mu.Lock()
	defer h.mu.Unlock()
	answer(w, http.StatusCreated, h.tokens(h.User, in))
}

func (h *Hub) serveRevokeDevice(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Devices = slices.DeleteFunc(h.Devices, func(d client.Device) bool { return d.ID == r.PathValue("id") })
	w.WriteHeader(http.StatusNoContent)
}

func (h *Hub) serveRevokeEdge(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Edges = slices.DeleteFunc(h.Edges, func(e client.Edge) bool { return e.ID == r.PathValue("id") })
	w.WriteHeader(http.StatusNoContent)
}

func (h *Hub) listSessions(r *http.Request) any {
	list := client.SessionList{Items: []client.Session{}}
	for _, s := range h.Sessions {
		if name := r.URL.Query().Get("name"); name == "" || name == s.Name {
			list.Items = append(list.Items, s)
		}
	}
	return list
}

func (h *Hub) session(id string) *client.Session {
	i := slices.IndexFunc(h.Sessions, func(s client.Session) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return &h.Sessions[i]
}

func (h *Hub) serveSession(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.session(r.PathValue("id"))
	if s == nil {
		problem(w, http.StatusNotFound, client.ProblemCodeNotFound, "No such conversation.")
		return
	}
	answer(w, http.StatusOK, s)
}

func (h *Hub) member(id client.MemberID) client.SessionMember {
	m := client.SessionMember{MemberID: id, MemberType: client.MemberTypeUser, Name: h.User.Username, Role: client.MemberRoleMember, JoinedAt: time.Now()}
	for _, a := range h.Agents {
		if a.ID == id {
			m.MemberType, m.Name = client.MemberTypeAgent, a.Name
		}
	}
	return m
}

func (h *Hub) serveGroup(w http.ResponseWriter, r *http.Request) {
	in := read[client.GroupSessionInput](r)
	h.mu.Lock()
	defer h.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	if before, known := h.keys[key]; known {
		answer(w, http.StatusCreated, before)
		return
	}
	s := client.Session{ID: client.SessionID(id.NewSession()), Type: client.SessionTypeGroup, Name: in.Name, OwnerID: h.User.ID, CreatedAt: time.Now(), UpdatedAt: time.Now()}
	for _, m := range append([]client.MemberID{h.User.ID}, in.MemberIds...) {
		s.Members = append(s.Members, h.member(m))
	}
	h.Sessions = append(h.Sessions, s)
	h.keys[key] = s
	h.publish(client.HubWebSocketFrameTypeSessionCreated, client.SessionCreatedPayload{SessionID: s.ID, Type: s.Type, Name: s.Name, OwnerID: s.OwnerID, Members: s.Members})
	answer(w, http.StatusCreated, s)
}

func (h *Hub) serveMember(w http.ResponseWriter, r *http.Request) {
	in := read[client.MemberInput](r)
	h.mu.Lock()
	defer h.mu.Unlock()
	s, m := h.session(r.PathValue("id")), h.member(in.MemberID)
	s.Members = append(s.Members, m)
	h.publish(client.HubWebSocketFrameTypeSessionMemberJoined, client.SessionMemberJoinedPayload{SessionID: s.ID, MemberID: m.MemberID, MemberType: m.MemberType})
	answer(w, http.StatusCreated, m)
}

func (h *Hub) syncMessages(r *http.Request) any {
	after, _ := strconv.ParseInt(r.URL.Query().Get("after_seq"), 10, 64)
	all := h.Messages[r.PathValue("id")]
	return client.MessageList{Items: all[min(int(after), len(all)):], LastSeq: int64(len(all))}
}

func (h *Hub) serveEvents(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	after, _ := strconv.ParseInt(r.URL.Query().Get("after_seq"), 10, 64)
	for _, t := range h.Tasks {
		if t.ID == r.PathValue("id") && after < t.ArchivedThrough {
			problem(w, http.StatusGone, client.ProblemCodeEventsExpired, "The events of this run up to 2 were archived; after_seq=2 reads what came behind them.")
			return
		}
	}
	answer(w, http.StatusOK, h.listEvents(r))
}

func (h *Hub) listEvents(r *http.Request) any {
	after, _ := strconv.ParseInt(r.URL.Query().Get("after_seq"), 10, 64)
	all := h.Events[r.PathValue("id")]
	list := client.RunEventList{Items: all[min(int(after), len(all)):], LastEventSeq: int64(len(all))}
	if small := 2; len(list.Items) > small { // so that paging is tried
		list.Items = list.Items[:small]
		list.Next = list.Items[small-1].EventSeq
	}
	return list
}

// stop lets a run be stopped, or its end be forced.
func stop(r *http.Request, t *client.AgentTask) {
	t.State = client.RunStateCancelling
	var in client.CancelInput
	if json.NewDecoder(r.Body).Decode(&in) == nil && in.Force {
		t.State = client.RunStateInterrupted
	}
}

func (h *Hub) serveTask(status int, change func(*http.Request, *client.AgentTask)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		for i := range h.Tasks {
			if h.Tasks[i].ID == r.PathValue("id") {
				if change != nil {
					change(r, &h.Tasks[i])
				}
				answer(w, status, h.Tasks[i])
				return
			}
		}
		problem(w, http.StatusNotFound, client.ProblemCodeNotFound, "No such run.")
	}
}

func (h *Hub) serveArtifact(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, list := range h.Artifacts {
		for _, a := range list {
			if a.ID == r.PathValue("id") {
				answer(w, http.StatusOK, a)
				return
			}
		}
	}
	problem(w, http.StatusNotFound, client.ProblemCodeNotFound, "No such artifact.")
}

func (h *Hub) serveContent(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprint(w, h.Content[r.PathValue("id")])
}
