package hub

import (
	"net/http"
	"time"

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
		Sessions: d.sessions, Messages: d.messages, Runs: d.record.Runs, Prompts: d.prompts, Blobs: d.record.Blobs,
		Followers: h.services.followers, Epoch: h.store.Epoch,
		Limiter: h.services.limiter, Limits: h.limits(), Origins: h.origins(), MetricsToken: string(h.opts.Config.MetricsToken),
		ClientSocket: h.services.gate, EdgeUplink: h.services.uplink, Surplus: surplus,
	})
}

func (h *Hub) limits() httpapi.Limits {
	requests, sockets := h.opts.Config.RequestsPerMinute, h.opts.Config.SocketsPerMinute
	return httpapi.Limits{
		Person: httpapi.Rate{Burst: requests / 10, PerMinute: float64(requests)},
		Socket: httpapi.Rate{Burst: sockets, PerMinute: float64(sockets)},
	}
}

// origins are the pages that browsers may use the hub from: its own, and those that the configuration names.
func (h *Hub) origins() []string {
	return append([]string{"http://" + h.opts.Config.Addr}, h.opts.Config.Origins...)
}
