package omnilog

import "github.com/switchyard-dev/switchyard/shared/telemetry"

// Metrics are what an operator sees of conversations as OmniMessages.
type Metrics struct {
	open        telemetry.Gauge
	facts       telemetry.Counter
	behind      telemetry.Counter
	checkpoints telemetry.Counter
}

// NewMetrics registers them.
func NewMetrics(r *telemetry.Registry) *Metrics {
	return &Metrics{
		open:        r.Gauge("omni_conversations", "Conversations that this hub keeps folded into OmniMessages."),
		facts:       r.Counter("omni_facts_total", "Events and messages that this hub has folded into OmniMessages, once for all readers of a conversation."),
		behind:      r.Counter("omni_behind_facts_total", "Events and messages that were folded for one reader alone, who reads what is older."),
		checkpoints: r.Counter("omni_checkpoints_total", "Checkpoints of conversations that this hub has stored."),
	}
}
