package client_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// BenchmarkReducerAppliesStreamFrames is what a device does with each frame of a run after a long sleep, but for showing it.
func BenchmarkReducerAppliesStreamFrames(b *testing.B) {
	r := client.NewReducer()
	b.ReportAllocs()
	seq := 0
	for b.Loop() {
		seq++
		raw := fmt.Appendf(nil, `{"type":"agent.stream","seq_id":%d,"payload":{"id":"evt_0123456789abcdef0123","task_id":"run_0123456789abcdef","edge_run_id":"run_0123456789abcdef","session_id":"sess_01912f5c-0000-7000-8000-000000000000","agent_instance_id":"agent_01912f5c-0000-7000-8000-000000000000","event_seq":%d,"event_type":"run.agent.text_delta","payload":"{\"message_id\":\"msg_01912f5c-0000-7000-8000-000000000000\",\"content_index\":0,\"delta\":\"the quick brown fox jumps over the lazy dog and says %d \"}","created_at":"2026-01-01T00:00:00.123456Z","trace_id":"trace_0123456789abcdef0123456789abcdef"},"cursor":"c1.0123456789abcdef.%d"}`, seq, seq, seq, seq)
		var f client.HubWebSocketFrame
		if err := json.Unmarshal(raw, &f); err != nil {
			b.Fatal(err)
		}
		if r.Apply(f) != client.Applied || client.Key(f) == "" {
			b.Fatal("not applied")
		}
	}
}
