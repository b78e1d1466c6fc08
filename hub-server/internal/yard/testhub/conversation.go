package testhub

import (
	"net/http"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// onSession lets fn change a conversation and answers with it.
func (h *Hub) onSession(w http.ResponseWriter, r *http.Request, fn func(*client.Session)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.session(r.PathValue("id"))
	if s == nil {
		problem(w, http.StatusNotFound, client.ProblemCodeNotFound, "No such conversation.")
		return
	}
	fn(s)
	answer(w, http.StatusOK, s)
}

func (h *Hub) serveInfo(w http.ResponseWriter, r *http.Request) {
	in := read[client.SessionInfoInput](r)
	h.onSession(w, r, func(s *client.Session) {
		for to, from := range map[*string]*string{&s.Name: in.Name, &s.AvatarURL: in.AvatarURL, &s.Announcement: in.Announcement} {
			if from != nil {
				*to = *from
			}
		}
	})
}

func (h *Hub) serveSettings(w http.ResponseWriter, r *http.Request) {
	in := read[client.SessionSettingsInput](r)
	h.onSession(w, r, func(s *client.Session) {
		for to, from := range map[*bool]*bool{&s.Pinned: in.Pinned, &s.Archived: in.Archived, &s.Muted: in.Muted} {
			if from != nil {
				*to = *from
			}
		}
	})
}

func (h *Hub) serveTransfer(w http.ResponseWriter, r *http.Request) {
	in := read[client.OwnerInput](r)
	h.onSession(w, r, func(s *client.Session) { s.OwnerID = in.UserID })
}

func (h *Hub) serveDissolve(w http.ResponseWriter, r *http.Request) {
	h.onSession(w, r, func(s *client.Session) { s.DissolvedAt = time.Now() })
}
