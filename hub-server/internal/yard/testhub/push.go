package testhub

import (
	"net/http"
	"net/url"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// routePush serves the registrations for pushes: one at a time. The service of a topic called `down` takes nothing.
func (h *Hub) routePush(mux *http.ServeMux) {
	const self = "/client/devices/self/push"
	var topic string
	registered := []client.PushRegistration{}
	mux.HandleFunc("POST "+self, func(w http.ResponseWriter, r *http.Request) {
		in := read[client.PushInput](r)
		h.mu.Lock()
		defer h.mu.Unlock()
		u, err := url.Parse(in.URL)
		if err != nil || in.Token == "bad" {
			problem(w, http.StatusBadRequest, client.ProblemCodeInvalidRequest, "The address must be a URL.")
			return
		}
		topic = u.Path
		registered = []client.PushRegistration{{DeviceID: "dev_here", Channel: in.Channel, Host: u.Host, ShowText: in.ShowText, CreatedAt: time.Now()}}
		answer(w, http.StatusOK, registered[0])
	})
	mux.HandleFunc("DELETE "+self, func(w http.ResponseWriter, _ *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		registered = []client.PushRegistration{}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST "+self+"/test", get(h, func(*http.Request) any {
		if topic == "/down" {
			return client.PushTest{Code: "unavailable", HTTPStatus: http.StatusServiceUnavailable}
		}
		return client.PushTest{Sent: true, HTTPStatus: http.StatusOK}
	}))
	mux.HandleFunc("GET /client/push", get(h, func(*http.Request) any { return client.PushOverview{VapidPublicKey: "key", Items: registered} }))
}
