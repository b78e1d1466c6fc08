package event_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestWhatAClientAnswersToACallIsHeldToItsForm(t *testing.T) {
	const around = `{"status":"ok","output":""}`
	for name, tc := range map[string]struct {
		decision event.Decision
		response string
		good     bool
	}{
		"an output":             {event.Allow, `{"status":"ok","output":[1,"<"],"metadata":{"render_hint":"url"}}`, true},
		"no output":             {event.Allow, `{"status":"ok"}`, true},
		"a failure":             {event.Deny, `{"status":"failed","error":{"code":"gone","message":"It is gone.","retryable":true}}`, true},
		"a failure without why": {event.Deny, `{"status":"failed"}`, true},
		"called off":            {event.Deny, `{"status":"cancelled"}`, true},
		"no status":             {event.Allow, `{"output":1}`, false},
		"another status":        {event.Allow, `{"status":"done"}`, false},
		"a success denied":      {event.Deny, `{"status":"ok"}`, false},
		"a failure allowed":     {event.Allow, `{"status":"failed"}`, false},
		"a success with error":  {event.Allow, `{"status":"ok","error":{"code":"a","message":"b","retryable":false}}`, false},
		"metadata of text":      {event.Allow, `{"status":"ok","metadata":"url"}`, false},
		"another key":           {event.Allow, `{"status":"ok","result":1}`, false},
		"nothing":               {event.Allow, ``, false},
		"too deep":              {event.Allow, `{"status":"ok","output":` + strings.Repeat(`[`, 40) + strings.Repeat(`]`, 40) + `}`, false},
		"as large as may be":    {event.Allow, `{"status":"ok","output":"` + strings.Repeat("x", event.MaxClientToolResponse-len(around)) + `"}`, true},
		"a byte more":           {event.Allow, `{"status":"ok","output":"` + strings.Repeat("x", event.MaxClientToolResponse-len(around)+1) + `"}`, false},
	} {
		err := event.CheckResponse(event.PromptClientTool, nil, tc.decision, json.RawMessage(tc.response))
		if (err == nil) != tc.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNobodyMayAskAPersonToBeAClientsTool(t *testing.T) {
	if event.CheckInner(event.PromptClientTool, json.RawMessage(`{"tool_name":"open_url"}`)) == nil {
		t.Error("a prompt of an agent may be of kind client_tool")
	}
}

func clientToolExamples(sum string) map[string]any {
	return map[string]any{
		"tool.call.started.client": event.ToolStartedPayload{
			ToolCallID: "t9", ToolName: "open_url", Arguments: json.RawMessage(`{"url":"https://a.example/?b<c"}`), Target: event.TargetClient,
		},
		"run.prompt.requested.client": event.PromptRequestedPayload{
			RequestID: "req_0123456789abcdef", Kind: event.PromptClientTool, ToolName: "open_url", Input: json.RawMessage(`{"url":"https://a.example/?b<c"}`),
			ToolCallID: "t9", AgentRequestID: "t9", Digest: sum, Asks: event.Client, TimeoutMS: 120000,
		},
		"run.prompt.answered.client": event.PromptAnsweredPayload{
			RequestID: "req_0123456789abcdef", Kind: event.PromptClientTool, Decision: event.Allow, By: event.Client, UserID: "user_1", DeviceID: "dev_1",
			Response: json.RawMessage(`{"status":"ok","output":"<done>","metadata":{"render_hint":"url"}}`),
		},
	}
}
