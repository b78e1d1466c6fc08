package agentline_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestResultsOfClientsAreReadAsTheyWereWritten(t *testing.T) {
	for want, r := range map[string]event.ClientToolResponse{
		`{"type":"tool_result","tool_call_id":"1","tool_name":"open_url","status":"ok","output":{"n":1.0},"metadata":{"a":"<"}}`: {
			Status: event.ClientToolOK, Output: json.RawMessage(`{"n":1.0}`), Metadata: json.RawMessage(`{"a":"<"}`),
		},
		`{"type":"tool_result","tool_call_id":"1","tool_name":"open_url","status":"failed","error":{"code":"gone","message":"No.","retryable":true}}`: {
			Status: event.ClientToolFailed, Error: &event.ErrorObj{Code: "gone", Message: "No.", Retryable: true},
		},
	} {
		said := agentline.NewCallResult("1", "open_url", r)
		line, err := said.Encode()
		if err != nil || string(line) != want+"\n" {
			t.Errorf("written %s, %v", line, err)
		}
		said.Type = agentline.ToolResult
		if read, err := agentline.ParseCallResult(line); err != nil || !reflect.DeepEqual(read, said) {
			t.Errorf("read %+v, %v", read, err)
		}
	}
	forPeople := &event.ErrorObj{Code: "gone", Message: "No.", Type: "dependency_fail", UserMessage: "The shop is closed."}
	if told := agentline.NewCallResult("1", "open_url", event.ClientToolResponse{Error: forPeople}).Error; *told != (event.ErrorObj{Code: "gone", Message: "No."}) {
		t.Errorf("the agent is told %+v", told)
	}
	for _, other := range []string{`{"type":"prompt_response","request_id":"1"}`, `{`} {
		if _, err := agentline.ParseCallResult([]byte(other)); !errors.Is(err, agentline.ErrNoCallResult) {
			t.Errorf("%s: %v", other, err)
		}
	}
}

func TestACallOfAClientsToolNamesItsTarget(t *testing.T) {
	var out bytes.Buffer
	w := agentline.NewWriter(&out)
	w.ToolCall("1", "open_url", map[string]string{"url": "x"}, agentline.ByClient())
	line, err := agentline.Parse(bytes.TrimSpace(out.Bytes()))
	if err != nil || line.Target != event.TargetClient || !strings.Contains(out.String(), `"target":"client"`) {
		t.Errorf("%s is read as %+v, %v", out.String(), line, err)
	}
}
