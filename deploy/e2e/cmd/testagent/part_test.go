package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/play"
)

func TestAPartIsPlayedActByAct(t *testing.T) {
	part := play.Part{
		{Kind: play.Muse, Text: "So? "},
		{Kind: play.Say, Text: "Hi, "},
		{Kind: play.Say, Text: "List files."},
		{Kind: play.End},
		{Kind: play.Call, Call: "c1", Tool: "Bash", Value: json.RawMessage(`{"command":"rm"}`)},
		{Kind: play.Ask, Call: "c1", Tool: "Bash", Value: json.RawMessage(`{"command":"rm"}`)},
		{Kind: play.Return, Call: "c1", Tool: "Bash", Text: "gone"},
		{Kind: play.Begin, Who: "sub_a", Text: "Look."},
		{Kind: play.Think, Who: "sub_a", Text: "Where?"},
		{Kind: play.Finish, Who: "sub_a", Text: "There."},
		{Kind: play.Fail, Text: "It broke."},
		{Kind: play.Say, Text: "This is said by nobody."},
	}
	answer := `{"type":"permission_response","request_id":"ask-1","behavior":"deny"}`
	said := playScene(t, "Now: "+part.String(), "", answer)
	var types []string
	for line := range bytes.Lines(said) {
		var l struct {
			Type  string `json:"type"`
			Error *struct {
				Code string `json:"code"`
			} `json:"error"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		types = append(types, l.Type)
		if l.Type == "tool_result" && (l.Error == nil || l.Error.Code != "permission_denied") {
			t.Errorf("a call that was denied ends with %s", line)
		}
	}
	want := "session_init run.agent.thinking delta delta delta tool_call permission_request tool_result " +
		"run.agent.task_started run.agent.thinking run.agent.sub_agent_status error"
	if got := strings.Join(types, " "); got != want {
		t.Errorf("it did %s, want %s", got, want)
	}
}
