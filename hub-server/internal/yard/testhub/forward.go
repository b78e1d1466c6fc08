package testhub

import (
	"net/http"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// serveForward stores copies of a message of the user, each once.
func (h *Hub) serveForward(w http.ResponseWriter, r *http.Request) {
	in := read[client.ForwardInput](r)
	h.onMessage(w, r, func(m *client.Message) any {
		source, receipt := *m, client.ForwardReceipt{}
		for _, to := range in.To {
			receipt.Items = append(receipt.Items, h.forward(source, to))
		}
		return receipt
	})
}

func (h *Hub) forward(source client.Message, to client.ForwardTarget) client.ForwardedCopy {
	if before, again := h.keys[to.ClientMsgID].(client.ForwardedCopy); again {
		before.Deduplicated = true
		return before
	}
	s := h.session(to.SessionID)
	m := h.store(s, h.User.ID, client.SenderTypeUser, client.MessageInput{ClientMsgID: to.ClientMsgID, Content: source.Content, Attachments: source.Attachments})
	m.Forwarded = client.MessageOrigin{SenderType: client.SenderTypeUser, SenderName: h.User.Username, SentAt: source.CreatedAt}
	all := h.Messages[s.ID]
	all[len(all)-1] = m
	h.publish(client.HubWebSocketFrameTypeMessageNew, m)
	made := client.ForwardedCopy{SessionID: to.SessionID, MessageID: m.ID, SeqID: m.SeqID, CreatedAt: m.CreatedAt}
	h.keys[to.ClientMsgID] = made
	return made
}
