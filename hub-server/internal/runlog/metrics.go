package runlog

import "github.com/switchyard-dev/switchyard/shared/telemetry"

type metrics struct {
	events      telemetry.Counter
	quarantined telemetry.Vec[telemetry.Counter]
	gaps        telemetry.Counter
	interrupted telemetry.Counter
	forced      telemetry.Counter
	repeated    telemetry.Counter
	recreated   telemetry.Counter
}

func newMetrics(reg *telemetry.Registry) metrics {
	return metrics{
		events:      reg.Counter("runlog_events_total", "Events committed from edges."),
		quarantined: reg.CounterVec("runlog_quarantined_rows_total", "Rows that could not be applied, by reason.", "code"),
		gaps:        reg.Counter("runlog_lane_gaps_total", "Stretches of rows that are lost for good."),
		interrupted: reg.Counter("runlog_interrupted_runs_total", "Runs ended by the hub because their edge stayed away."),
		forced:      reg.Counter("runlog_forced_runs_total", "Runs ended by a person without waiting for their edge."),
		repeated:    reg.Counter("runlog_repeated_events_total", "Events that came again from an edge whose disk was put back, and were not applied."),
		recreated:   reg.Counter("runlog_recreated_runs_total", "Runs that a restored store had lost and an edge has shown."),
	}
}

func (m metrics) committed(res LaneResult) {
	m.events.Add(float64(res.Events))
	for _, code := range res.Refused {
		m.quarantined.With(string(code)).Inc()
	}
}
