package redisstate

import "github.com/switchyard-dev/switchyard/shared/telemetry"

type metrics struct {
	up       telemetry.Gauge
	failures telemetry.Counter
	local    telemetry.Counter
	dropped  telemetry.Counter
}

func newMetrics(r *telemetry.Registry) *metrics {
	return &metrics{
		up:       r.Gauge("redis_up", "Whether Redis answers: 1, or 0."),
		failures: r.Counter("redis_losses_total", "Times that Redis stopped answering."),
		local:    r.Counter("redis_local_limits_total", "Requests that were judged by the limits of this hub alone, because Redis was away."),
		dropped:  r.Counter("redis_signals_dropped_total", "Signals to other hubs that were dropped because too many waited for Redis."),
	}
}
