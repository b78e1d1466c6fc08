package event_test

import (
	"encoding/json"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestFactsAreHeldToTheirShapes(t *testing.T) {
	for _, c := range []struct {
		fact    event.Type
		payload string
		ok      bool
	}{
		{event.TaskStarted, `{"agent_id":"a","name":"n","agent_type":"sync","more":1}`, true},
		{event.TaskStarted, `{"agent_id":"a"}`, false},
		{event.TaskStarted, `{"agent_id":"","name":"n"}`, false},
		{event.TaskStarted, `{"agent_id":null,"name":"n"}`, false},
		{event.TaskStarted, `{"agent_id":7,"name":"n"}`, false},
		{event.TaskStarted, `{"agent_id":"a","name":"n","agent_type":"slow"}`, false},
		{event.TaskStarted, `[]`, false},
		{event.TaskStarted, `{`, false},
		{event.APIRetry, `{"attempt":0}`, true},
		{event.APIRetry, `{}`, false},
		{event.RequestBegin, `{"request_id":"1"}`, true},
		{event.RequestBegin, `{"request_id":"1","attempt":2,"model":"m"}`, true},
		{event.RequestBegin, `{"request_id":"1","attempt":0}`, false},
		{event.RequestBegin, `{}`, false},
		{event.RequestEnd, `{"request_id":"1","status":"completed"}`, true},
		{event.RequestEnd, `{"request_id":"1","status":"completed","attempt":3,"usage":{"output_tokens":1}}`, true},
		{event.RequestEnd, `{"request_id":"1","status":"completed","attempt":1}`, false},
		{event.RequestEnd, `{"request_id":"1","status":"completed","attempt":0}`, false},
		{event.RequestEnd, `{"request_id":"1","status":"completed","attempt":null}`, true},
		{event.RequestEnd, `{"request_id":"1","status":"completed","error_message":"no"}`, false},
		{event.RequestEnd, `{"request_id":"1","status":"completed","retry_in_ms":0}`, false},
		{event.RequestEnd, `{"request_id":"1","status":"failed","attempt":1,"error_message":"no","retry_in_ms":2000}`, true},
		{event.RequestEnd, `{"request_id":"1","status":"timeout","attempt":1,"retry_in_ms":0}`, true},
		{event.RequestEnd, `{"request_id":"1","status":"malformed","attempt":1,"retry_in_ms":2000}`, true},
		{event.RequestEnd, `{"request_id":"1","status":"malformed","attempt":1,"retry_in_ms":-1}`, false},
		{event.RequestEnd, `{"request_id":"1","status":"auth","attempt":1,"error_message":"no"}`, true},
		{event.RequestEnd, `{"request_id":"1","status":"auth","attempt":1,"retry_in_ms":2000}`, false},
		{event.RequestEnd, `{"request_id":"1","status":"aborted","attempt":1,"retry_in_ms":2000}`, false},
		{event.RequestEnd, `{"request_id":"1","status":"cancelled"}`, false},
		{event.RequestEnd, `{"status":"completed"}`, false},
		{event.TaskProgress, `{}`, true},
		{event.TaskProgress, `{"progress_pct":1}`, true},
		{event.TaskProgress, `{"progress_pct":40}`, false},
		{event.TaskProgress, `{"progress_pct":-0.1}`, false},
		{event.SubAgentStatus, `{"agent_id":"a","status":"done"}`, false},
		{event.SubAgentStatus, `{"agent_id":"a","status":"ok","error":{"message":"m"},"usage":{"input_tokens":1}}`, true},
		{event.Plan, `{"plan_id":"p","steps":[{"step_id":"s"},{"step_id":"t","depends_on":["s"]}]}`, true},
		{event.Plan, `{"plan_id":"p","steps":[{"step_id":"s"},{"id":"t"}]}`, false},
		{event.Plan, `{"plan_id":"p","steps":[7]}`, false},
		{event.Plan, `{"plan_id":"p","steps":null}`, true},
		{"run.agent.vendor_thing", `[7]`, true},
	} {
		if err := event.CheckFact(c.fact, json.RawMessage(c.payload)); (err == nil) != c.ok {
			t.Errorf("%s %s: %v", c.fact, c.payload, err)
		}
	}
}

func TestExamplesOfFactsFitTheirShapes(t *testing.T) {
	for _, f := range event.AgentFacts() {
		encoded, err := event.Encode(agentFactExamples()[string(f.Type)])
		if err != nil {
			t.Fatal(err)
		}
		if err := event.CheckFact(f.Type, encoded); err != nil {
			t.Errorf("%s %s: %v", f.Type, encoded, err)
		}
	}
}
