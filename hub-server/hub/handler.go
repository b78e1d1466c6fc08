package hub

import (
	"net/http"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/control"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

const readinessTimeout = 3 * time.Second

// newHandler puts the HTTP surface over the domain.
func (h *Hub) newHandler(d *domain) http.Handler {
	health := telemetry.NewHealth(readinessTimeout)
	health.Add("store", h.services.writer.Probe)
	health.Add("bus", h.local.RoundTrip)
	health.Add("connections", h.crowd.check)
	if h.hubBus != h.local {
		health.Add("bus between hubs", h.hubBus.RoundTrip)
	}
	return httpapi.New(httpapi.Deps{
		Log: h.log, Metrics: h.registry, Health: health, Version: h.opts.Version,
		People: d.people, Devices: d.devices, Enrolments: d.enrolments, Edges: d.edges, Agents: d.agents,
		Controls:  h.newControls(d),
		Attention: h.services.attention, Push: h.services.registrations, PushKey: h.services.pushKey,
		Sessions: d.sessions, Messages: d.messages, Imports: d.imports, Changes: d.changes, Runs: d.record.Runs, Prompts: d.prompts, Notices: d.notices, Contacts: d.contacts, Finder: d.finder, Blobs: d.record.Blobs, Files: d.files,
		Omni: h.services.messages, Followers: h.services.followers, Epoch: h.store.Epoch,
		Rounds:  delivery.Rounds{Tail: h.services.tail, Followers: h.services.followers},
		Limiter: h.services.limiter, Limits: h.limits(), Origins: h.origins(), MetricsToken: string(h.opts.Config.MetricsToken),
		ClientSocket: h.services.gate, CardSocket: h.services.cardSockets, EdgeUplink: h.services.uplink, Surplus: surplus,
	})
}

// newControls makes what people act on the work of a conversation with.
func (h *Hub) newControls(d *domain) *control.Controls {
	return &control.Controls{
		Sessions: d.sessions, Messages: d.messages, Runs: d.record.Runs, Prompts: d.prompts, Agents: d.agents,
		Conversations: h.services.messages, Attempts: d.attempts,
	}
}

func (h *Hub) limits() httpapi.Limits {
	requests, sockets, invites := h.opts.Config.RequestsPerMinute, h.opts.Config.SocketsPerMinute, h.opts.Config.InvitesPerMinute
	return httpapi.Limits{
		Person: httpapi.Rate{Burst: requests / 10, PerMinute: float64(requests)},
		Search: httpapi.Rate{Burst: max(1, requests/100), PerMinute: float64(requests) / 25},
		Socket: httpapi.Rate{Burst: sockets, PerMinute: float64(sockets)},
		Invite: httpapi.Rate{Burst: invites, PerMinute: float64(invites)},
	}
}

// origins are the pages that browsers may use the hub from: its own, and those that the configuration names.
func (h *Hub) origins() []string {
	return append([]string{"http://" + h.opts.Config.Addr}, h.opts.Config.Origins...)
}
