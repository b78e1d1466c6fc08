package omni_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// TestProblemsSayWhereTheyAre spoils one message after the other.
func TestProblemsSayWhereTheyAre(t *testing.T) {
	for _, c := range []struct{ of, old, new, want string }{
		{"text.user", `2026-07-18T07:30:00.250Z`, `yesterday`, "timestamp: is no time of ISO 8601"},
		{"text.user", `2026-07-18T07:30:00.250Z`, `2026-07-18T07:30:00+02:00`, "timestamp: is not in UTC"},
		{"text.user", `"timestamp":"2026-07-18T07:30:00.250Z",`, ``, "timestamp: is no time of ISO 8601"},
		{"text.user", `}}`, `},"origin":[]}`, "origin: is empty: the main session has none"},
		{"text.user", `}}`, `},"origin":"a"}`, "origin: is no list"},
		{"text.user", `}}`, `},"origin":["a","",1]}`, "origin[1]: is empty; origin[2]: is no string"},
		{"text.user", `"type":"text",`, ``, "payload.type: is missing"},
		{"text.user", `model_msg`, `event_msg`, "payload.type: text is no payload of event_msg"},
		{"abort", `event_msg`, `model_msg`, "payload.type: abort is no payload of model_msg"},
		{"text.user", `"role":"user"`, `"role":"system"`, `payload.role: is "system", which is none of user, assistant`},
		{"text.user", `"role":"user",`, ``, "payload.role: is missing"},
		{"text.user", `"text":"列`, `"Text":"列`, "payload.text: is missing"},
		{"text.user", `"text":"列`, `"text":"a","text":"列`, "payload.text: is there twice"},
		{"text.user", `"text":"列出当前目录的文件"`, `"text":null`, "payload.text: is no string"},
		{"thinking", `assistant`, `user`, `payload.role: is "user", which is none of assistant`},
		{"tool_call_output", `"role":"user",`, ``, "payload.role: is missing"},
		{"thinking", `aborted`, `stopped`, `payload.stop_reason: is "stopped", which is none of completed, failed, aborted, timeout, malformed, auth`},
		{"thinking", `"fidelity":{`, `"fidelity":[],"x":{`, "payload.fidelity: is no object"},
		{"thinking.encrypted", `"fidelity":{`, `"fidelity":null,"x":{`, "payload.fidelity: is no object"},
		{"inline_data", `audio/wav`, ``, "payload.mime_type: is empty"},
		{"tool_call", `"name":"bash"`, `"name":""`, "payload.name: is empty"},
		{"tool_call", `"tool_call_id":"call_1",`, ``, "payload.tool_call_id: is missing"},
		{"tool_call_output", `"images":["data:image/png;base64,iVBORw0=",`, `"images":["https://x/a.png",7,`, "payload.images[0]: is no data:MIME;base64,… URL; payload.images[1]: is no string"},
		{"tool_call_output", `iVBORw0="]`, `iVBORw0"]`, "payload.images[1]: is no data:MIME;base64,… URL"},
		{"tool_call_output", `data:image/png`, `image/png`, "payload.images[0]: is no data:MIME;base64,… URL"},
		{"image_url", `https:`, `file:`, "payload.image_url: is neither a URL of the web nor a data:MIME;base64,… URL"},
		{"partial_text.delta", `delta`, `middle`, `payload.event_type: is "middle", which is none of start, delta, stop`},
		{"approval_decision", `deny`, `maybe`, `payload.decision: is "maybe", which is none of allow, deny, forbidden`},
		{"session_meta", `{"name":"clock"`, `{"name":""`, "payload.tools[1].name: is empty"},
		{"session_meta", `"parameters":{`, `"parameters":"","x":{`, "payload.tools[0].parameters: is no object"},
		{"session_meta", `"tools":[`, `"tools":[1,`, "payload.tools[0]: is no object"},
		{"session_meta", `"tools":[{`, `"tools":{},"x":[{`, "payload.tools: is no list"},
		{"session_meta", `200000`, `-1`, "payload.model_context_window: is negative"},
		{"session_meta", `200000`, `""`, "payload.model_context_window: is empty"},
		{"session_meta", `200000`, `[]`, "payload.model_context_window: is no whole number up to 9007199254740991"},
		{"session_meta", `schedule`, `user`, `payload.source: is "user", which is none of subagent, schedule`},
		{"session_meta", `"workspace":"/data/w",`, ``, "payload.workspace: is missing"},
		{"token_usage", `"cache_read":11`, `"cache_read":1.5`, "payload.session.cache_read: is no whole number up to 9007199254740991"},
		{"token_usage", `"output":3,`, ``, "payload.request.output: is missing"},
		{"token_usage", `"total":7}`, `"total":9007199254740993}`, "payload.request.total: is no whole number up to 9007199254740991"},
		{"token_usage", `"request":{`, `"request":4,"x":{`, "payload.request: is no object"},
		{"request_end", `}}`, `,"error_message":"x"}}`, "payload.error_message: says what went wrong where nothing did"},
		{"request_end", `}}`, `,"attempt":1}}`, "payload.attempt: is left out where the first attempt succeeds"},
		{"request_end", `}}`, `,"attempt":0}}`, "payload.attempt: counts from 1"},
		{"request_end", `}}`, `,"retry_in_ms":1}}`, "payload.retry_in_ms: is there although completed is not tried again"},
		{"request_end.retry", `timeout`, `auth`, "payload.retry_in_ms: is there although auth is not tried again"},
		{"compaction_end", `"failed"`, `"aborted","retry_in_ms":5`, "payload.retry_in_ms: is there although aborted is not tried again"},
		{"compaction_begin", `"turns":12`, `"turns":null`, "payload.turns: is no whole number up to 9007199254740991"},
		{"mcp_connect_end", `"http"`, `"ftp"`, `payload.results[1].transport: is "ftp", which is none of stdio, http, sse`},
		{"tool_list_ready", `"tools":[`, `"tools":"","x":[`, "payload.tools: is no list"},
	} {
		line := string(made(t, payloads()[c.of]).Bytes())
		spoilt := strings.Replace(line, c.old, c.new, 1)
		if spoilt == line {
			t.Errorf("%s has no %s", line, c.old)
			continue
		}
		err := read(t, spoilt).Validate()
		var problems omni.Problems
		if !errors.As(err, &problems) || err.Error() != c.want {
			t.Errorf("%s\n got: %v\nwant: %s", spoilt, err, c.want)
		}
	}
}

func TestWhatIsRightAlthoughItIsUnusual(t *testing.T) {
	for _, c := range []struct{ of, old, new string }{
		{"request_end", `}}`, `,"attempt":2}}`}, // after another one
		{"abort", `}}`, `,"reason":null}}`},
		{"session_meta", `"tools":`, `"thinking_level":"high","x":`}, // later versions have no tools, older ones had the level
		{"session_meta", `200000`, `2e5`},
		{"session_meta", `200000`, `"unknown"`},
		{"token_usage", `"total":77`, `"total":77.0`},
		{"approval_decision", `deny`, `forbidden`},
		{"text.user", `"role":"user"`, `"role":"user","sender":"harness"`},
		{"tool_call_output", `"images":[`, `"images":[],"x":[`},
		{"text.user", `.250Z`, `Z`},
		{"text.user", `.250Z`, `.250000001+00:00`},
	} {
		line := string(made(t, payloads()[c.of]).Bytes())
		other := strings.Replace(line, c.old, c.new, 1)
		if other == line {
			t.Errorf("%s has no %s", line, c.old)
		}
		m := read(t, other)
		if err := m.Validate(); err != nil {
			t.Errorf("%s: %v", other, err)
		}
		if _, err := m.Body(); err != nil {
			t.Errorf("%s: %v", other, err)
		}
	}
}

func TestProblemsAreBounded(t *testing.T) {
	const begin = `{"timestamp":"2026-07-18T07:30:00Z","type":"model_msg","payload":{"type":"tool_call_output","role":"user","tool_call_id":"1",`
	for _, line := range []string{
		begin + `"output":"","images":[` + strings.Repeat(`0,`, 100_000) + `0]}}`,
		begin + strings.Repeat(`"output":"",`, 1000) + `"output":""}}`,
	} {
		var problems omni.Problems
		if err := read(t, line).Validate(); !errors.As(err, &problems) || len(problems) != 20 {
			t.Errorf("%d problems", len(problems))
		}
	}
}
