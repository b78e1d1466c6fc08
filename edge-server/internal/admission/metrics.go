package admission

import "github.com/switchyard-dev/switchyard/shared/telemetry"

type metrics struct {
	commands  telemetry.Vec[telemetry.Counter]
	started   telemetry.Counter
	recovered telemetry.Counter
	running   telemetry.Gauge
}

func newMetrics(r *telemetry.Registry) *metrics {
	return &metrics{
		commands:  r.CounterVec("commands_total", "Commands that were answered for the first time.", "status"),
		started:   r.Counter("runs_started_total", "Agents that were started."),
		recovered: r.Counter("runs_cut_off_total", "Runs that an earlier process had left without a terminal."),
		running:   r.Gauge("runs_running", "Runs that have a place at this moment."),
	}
}
