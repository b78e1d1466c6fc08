package hub

import (
	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/gate/cards"
	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
)

// newCards makes what tells conversations as cards, and has no log leave that is not told.
func (h *Hub) newCards(d *domain) {
	s := &h.services
	s.cards = cardlog.New(cardlog.Config{
		Store: sqlstore.NewCards(h.store, s.writer), Rules: cardlog.Cards(h.opts.Config.CardsLanguage), Log: h.log, Metrics: cardlog.NewMetrics(h.registry),
	})
	s.watchdog = cardlog.NewWatchdog(s.cards, sqlstore.NewTimers(h.store, s.writer), d.record.Runs, h.log)
	s.archiver.Traces = s.cards
}

// newMessages makes what tells conversations as OmniMessages, and has no log leave behind which that could not go on.
func (h *Hub) newMessages() {
	s := &h.services
	s.messages = omnilog.New(omnilog.Config{Store: sqlstore.NewOmni(h.store, s.writer), Log: h.log, Metrics: omnilog.NewMetrics(h.registry)})
	s.archiver.Messages = s.messages
}

// seen tells those who read the record themselves that it has grown.
func (h *Hub) seen(rows []delivery.Row) {
	h.services.followers.Seen(rows)
	h.services.cards.Seen(rows)
	h.services.messages.Seen(rows)
	h.services.cardSockets.Seen(rows)
}

// kicked ends what a login that has ended has open besides the sockets of the gate.
func (h *Hub) kicked(f account.Family) {
	h.services.followers.EndFamily(f)
	h.services.cardSockets.CloseFamily(f)
}

func (h *Hub) newCardSockets(st stores, d *domain) {
	h.services.cardSockets = cards.New(cards.Deps{
		Log: h.log, Metrics: h.registry, Devices: d.devices, Traces: h.services.cards, Sessions: d.sessions, Messages: d.messages, Files: d.files,
		Agents: d.agents, Prompts: d.prompts, Runs: d.record.Runs, Open: st.chat, Tools: st.chat, Origins: h.origins(), PerUser: h.opts.Config.SocketsPerUser,
		Opening: h.opts.Config.SocketsOpening, Inbound: inboundRate(h.opts.Config.FramesPerSecond), Problem: httpapi.AnswerProblem(h.log),
	})
}
