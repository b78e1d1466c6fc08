package testhub

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// number reads a number of a query.
func number(r *http.Request, name string, otherwise int) int {
	n, err := strconv.Atoi(r.FormValue(name))
	if err != nil {
		return otherwise
	}
	return n
}

// routePeople serves contacts. Who is in People can be found; they do nothing of their own.
func (h *Hub) routePeople(mux *http.ServeMux) {
	mux.HandleFunc("GET /client/people/{name}", func(w http.ResponseWriter, r *http.Request) {
		h.onPerson(w, r.PathValue("name"), func(p client.Person) any { return p })
	})
	mux.HandleFunc("GET /client/contacts", get(h, func(*http.Request) any { return client.ContactList{Items: h.Contacts} }))
	mux.HandleFunc("POST /client/contacts", func(w http.ResponseWriter, r *http.Request) {
		in := read[client.ContactInput](r)
		h.onPerson(w, in.Username, func(p client.Person) any {
			return h.contact(client.Contact{UserID: p.UserID, Username: p.Username, State: client.ContactStateRequestSent, Since: time.Now(), Message: in.Message})
		})
	})
	mux.HandleFunc("POST /client/contacts/requests/{id}/accept", func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, c := range h.Contacts {
			if c.RequestID == r.PathValue("id") {
				c.State, c.Online = client.ContactStateFriend, true
				answer(w, http.StatusOK, h.contact(c))
				return
			}
		}
		problem(w, http.StatusNotFound, client.ProblemCodeNotFound, "No such request.")
	})
	gone := func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.Contacts = slices.DeleteFunc(h.Contacts, func(c client.Contact) bool {
			return c.UserID == r.PathValue("id") || c.RequestID != "" && c.RequestID == r.PathValue("id")
		})
		w.WriteHeader(http.StatusNoContent)
	}
	mux.HandleFunc("POST /client/contacts/requests/{id}/decline", gone)
	mux.HandleFunc("DELETE /client/contacts/{id}", gone)
	mux.HandleFunc("DELETE /client/contacts/{id}/block", gone)
	mux.HandleFunc("PUT /client/contacts/{id}/block", func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, p := range h.People {
			if p.UserID == r.PathValue("id") {
				h.contact(client.Contact{UserID: p.UserID, Username: p.Username, State: client.ContactStateBlocked, Since: time.Now()})
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

func (h *Hub) onPerson(w http.ResponseWriter, name client.Username, fn func(client.Person) any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.People, func(p client.Person) bool { return p.Username == name })
	if i < 0 {
		problem(w, http.StatusNotFound, client.ProblemCodeNotFound, "There is nobody of that name.")
		return
	}
	answer(w, http.StatusOK, fn(h.People[i]))
}

// contact puts somebody on the list, in place of what stood there of them.
func (h *Hub) contact(c client.Contact) client.Contact {
	h.Contacts = append(slices.DeleteFunc(h.Contacts, func(x client.Contact) bool { return x.UserID == c.UserID }), c)
	return c
}

// routeNotifications serves what the user was told.
func (h *Hub) routeNotifications(mux *http.ServeMux) {
	mux.HandleFunc("GET /client/notifications", get(h, func(r *http.Request) any {
		list := client.NotificationList{Items: []client.NotificationPayload{}}
		for _, n := range h.Notifications {
			if !n.Read || r.FormValue("unread") != "true" {
				list.Items = append(list.Items, n)
			}
		}
		return list
	}))
	read := func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		for i := range h.Notifications {
			n := &h.Notifications[i]
			n.Read = n.Read || r.PathValue("id") == "" || n.ID == r.PathValue("id")
		}
		w.WriteHeader(http.StatusNoContent)
	}
	mux.HandleFunc("POST /client/notifications/read", read)
	mux.HandleFunc("POST /client/notifications/{id}/read", read)
	mux.HandleFunc("POST /client/auth/logout-everywhere", func(w http.ResponseWriter, _ *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.Devices = nil
		w.WriteHeader(http.StatusNoContent)
	})
}
