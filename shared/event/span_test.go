package event_test

import (
	"encoding/json"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// The ids are those of sha256sum: edges and hubs of different versions have to agree on them.
func TestASpanIsTheToolCallsOrTheRunsOwn(t *testing.T) {
	const (
		run     id.Run = "run_9f2c1b7ad0e44c55"
		another id.Run = "run_9f2c1b7ad0e44c56"
		root           = "9d0b9a3e3c2ba78f" // v1:run-root-span:run_9f2c1b7ad0e44c55
		call           = "20a8492a9163da20" // v1:span:tool:run_9f2c1b7ad0e44c55:toolu_1
	)
	for name, c := range map[string]struct {
		run     id.Run
		typ     event.Type
		payload string
		want    string
	}{
		"start of the run":          {run, event.RunStarted, `{}`, root},
		"of the hub's own":          {run, event.RunCancelling, `{}`, root},
		"unknown type":              {run, "vendor.new", `{"tool_call_id":"toolu_1"}`, root},
		"another run":               {another, event.RunStarted, `{}`, "28f0b09ef6725535"},
		"start of a call":           {run, event.ToolStarted, `{"tool_name":"read","tool_call_id":"toolu_1","arguments":{}}`, call},
		"end of a call":             {run, event.ToolCompleted, `{"tool_call_id":"toolu_1","result":1}`, call},
		"failure of a call":         {run, event.ToolFailed, `{"tool_call_id":"toolu_1"}`, call},
		"of a sub-agent":            {run, event.ToolStarted, `{"tool_call_id":"toolu_1","agent_id":"sub_a"}`, "f40574daa9330053"},
		"a sub-agent's, by no name": {run, event.ToolStarted, `{"tool_call_id":"","agent_id":"sub_a"}`, root},
		"a call by no name":         {run, event.ToolStarted, `{"tool_call_id":""}`, root},
		"a call by a number":        {run, event.ToolStarted, `{"tool_call_id":7}`, root},
		"too large for a row":       {run, event.ToolStarted, `{"payload_blob":{"sha256":"00","size":1}}`, root},
		"a payload of another sort": {run, event.ToolFailed, `[]`, root},
	} {
		if got := event.SpanOf(c.run, c.typ, json.RawMessage(c.payload)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
