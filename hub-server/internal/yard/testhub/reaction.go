package testhub

import (
	"net/http"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// routeMessages serves what can be done with a message that is there.
func (h *Hub) routeMessages(mux *http.ServeMux) {
	const one = "/client/messages/{id}"
	mux.HandleFunc("PUT "+one, func(w http.ResponseWriter, r *http.Request) {
		in := read[client.MessageEdit](r)
		h.onMessage(w, r, func(m *client.Message) any {
			m.Content, m.EditedAt, m.Revision = in.Content, time.Now(), m.Revision+1
			return h.again(*m)
		})
	})
	mux.HandleFunc("POST "+one+"/recall", func(w http.ResponseWriter, r *http.Request) {
		h.onMessage(w, r, func(m *client.Message) any {
			m.Content, m.Recalled = []byte("{}"), true
			h.publish(client.HubWebSocketFrameTypeMessageRecall, client.MessageRecallPayload{MessageID: m.ID, SessionID: m.SessionID})
			return *m
		})
	})
	mux.HandleFunc("POST "+one+"/pin", func(w http.ResponseWriter, r *http.Request) {
		h.onMessage(w, r, func(m *client.Message) any {
			m.Pinned = client.MessagePinned{PinnedAt: time.Now(), PinnedByUserID: h.User.ID}
			pin := client.MessagePinPayload{MessageID: m.ID, SessionID: m.SessionID, PinnedAt: m.Pinned.PinnedAt, PinnedByUserID: h.User.ID}
			h.publish(client.HubWebSocketFrameTypeMessagePin, pin)
			return pin
		})
	})
	mux.HandleFunc("DELETE "+one+"/pin", func(w http.ResponseWriter, r *http.Request) {
		h.onMessage(w, r, func(m *client.Message) any {
			m.Pinned = client.MessagePinned{}
			h.publish(client.HubWebSocketFrameTypeMessageUnpin, client.MessageUnpinPayload{MessageID: m.ID, SessionID: m.SessionID})
			return nil
		})
	})
	mux.HandleFunc("GET "+one+"/reactions", func(w http.ResponseWriter, r *http.Request) {
		h.onMessage(w, r, func(m *client.Message) any { return client.ReactionList{Items: m.Reactions} })
	})
	mux.HandleFunc("POST "+one+"/reactions", func(w http.ResponseWriter, r *http.Request) {
		in := read[client.ReactionInput](r)
		h.onMessage(w, r, func(m *client.Message) any {
			h.react(m, in.Reaction)
			return client.ReactionList{Items: m.Reactions}
		})
	})
	mux.HandleFunc("DELETE "+one+"/reactions", func(w http.ResponseWriter, r *http.Request) {
		h.onMessage(w, r, func(m *client.Message) any {
			m.Reactions = slices.DeleteFunc(m.Reactions, func(x client.Reaction) bool { return x.Reaction == r.FormValue("reaction") })
			h.publish(client.HubWebSocketFrameTypeMessageReactionRemoved, h.reaction(m, r.FormValue("reaction"), 0))
			return nil
		})
	})
	mux.HandleFunc("GET /client/sessions/{id}/pins", get(h, func(r *http.Request) any {
		pins := client.PinList{Items: []client.Message{}}
		for _, m := range h.Messages[r.PathValue("id")] {
			if !m.Pinned.PinnedAt.IsZero() {
				pins.Items = append(pins.Items, m)
			}
		}
		return pins
	}))
	mux.HandleFunc("POST /client/sessions/{id}/read", func(w http.ResponseWriter, r *http.Request) {
		in := read[client.ReadMarkInput](r)
		h.onSession(w, r, func(s *client.Session) { s.LastReadSeq = max(s.LastReadSeq, in.LastReadSeq) })
	})
}

// onMessage lets fn change a message and answers with what it returns; nil is 204.
func (h *Hub) onMessage(w http.ResponseWriter, r *http.Request, fn func(*client.Message) any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, all := range h.Messages {
		for i := range all {
			if all[i].ID != r.PathValue("id") {
				continue
			}
			if body := fn(&all[i]); body != nil {
				answer(w, http.StatusOK, body)
			} else {
				w.WriteHeader(http.StatusNoContent)
			}
			return
		}
	}
	problem(w, http.StatusNotFound, client.ProblemCodeNotFound, "No such message.")
}

// again publishes a message in its newest version.
func (h *Hub) again(m client.Message) client.Message {
	h.publish(client.HubWebSocketFrameTypeMessageNew, m)
	return m
}

func (h *Hub) react(m *client.Message, reaction string) {
	if slices.ContainsFunc(m.Reactions, func(r client.Reaction) bool { return r.Reaction == reaction }) {
		return
	}
	m.Reactions = append(m.Reactions, client.Reaction{Reaction: reaction, Count: 1, UserIds: []client.UserID{h.User.ID}})
	h.publish(client.HubWebSocketFrameTypeMessageReactionAdded, h.reaction(m, reaction, 1))
}

func (h *Hub) reaction(m *client.Message, reaction string, count int) client.MessageReactionPayload {
	return client.MessageReactionPayload{MessageID: m.ID, SessionID: m.SessionID, UserID: h.User.ID, Reaction: reaction, Count: count}
}

// listMessages answers with a page that ends before a number.
func (h *Hub) listMessages(r *http.Request) any {
	all := h.Messages[r.PathValue("id")]
	list := client.MessageList{Items: []client.Message{}, LastSeq: int64(len(all))}
	end := min(number(r, "before_seq", len(all)+1)-1, len(all))
	begin := max(end-number(r, "limit", len(all)), 0)
	list.Items = append(list.Items, all[begin:end]...)
	if begin > 0 {
		list.Next = list.Items[0].SeqID
	}
	return list
}
