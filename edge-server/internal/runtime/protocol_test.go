package runtime_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// What only agents of the events runtime can say.

func TestToolsStatesAndFactsArePassedOn(t *testing.T) {
	newBench(t, profile.Events,
		`say:{"type":"state_change","state":"planning"}`,
		`say:{"type":"tool_call","tool_call_id":"1","tool_name":"search","tool_args":{"q": 1.0}}`,
		`say:{"type":"tool_result","tool_call_id":"1","tool_name":"search","tool_result":["x"]}`,
		`say:{"type":"tool_call","tool_name":"read"}`,
		`say:{"type":"tool_result","tool_name":"read","error":{"code":"not_found","message":"No."}}`,
		`say:{"type":"run.agent.session_metrics","payload":{"n":1}}`,
		`say:{"type":"run.agent.novelty"}`,
		`say:{"type":"delta","content_index":2,"content":"x"}`,
		`say:{"type":"run.agent.thinking","payload":7}`,
		`say:{"type":"done"}`,
		`say:{"type":"delta","content":"after the end"}`,
	).play(t).must(t,
		"state planning", `call 1 search {"q": 1.0}`, `result 1 search ["x"]`, "call  read ", "failed  read not_found",
		`fact run.agent.session_metrics {"n":1}`, "fact run.agent.novelty null", "text x",
		`fact run.output.batch {"stream":"stdout","lines":["{\"type\":\"run.agent.thinking\",\"payload\":7}",`+
			`"{\"type\":\"delta\",\"content\":\"after the end\"}"]}`, "done ")
}

func TestWhatHappensInASubAgentIsPassedOnAsItsOwn(t *testing.T) {
	b := newBench(t, profile.Events,
		`say:{"type":"delta","content":"I ask.","last":true}`,
		`say:{"type":"run.agent.tool_input","agent_id":"main","payload":{"tool_call_id":"0","partial_json":"{\"a\":"}}`,
		`say:{"type":"run.agent.task_started","payload":{"agent_id":"sub_1","name":"helper"}}`,
		`say:{"type":"run.agent.thinking","agent_id":"sub_1","payload":{"delta":"hm"}}`,
		`say:{"type":"run.agent.thinking","payload":{"delta":"so","agent_id":"sub_1"}}`,
		`say:{"type":"run.agent.thinking","agent_id":"sub_1","payload":{"delta":"but"},"apart":true}`,
		`say:{"type":"run.agent.tool_input","agent_id":"sub_1","payload":{"partial_json":"{}"},"apart":true}`,
		`say:{"type":"delta","agent_id":"sub_1","content":"inside"}`,
		`say:{"type":"tool_call","agent_id":"sub_1","tool_call_id":"1","tool_name":"grep","tool_args":{}}`,
		`say:{"type":"tool_result","agent_id":"sub_1","tool_call_id":"1","tool_name":"grep","tool_result":1}`,
		`say:{"type":"artifact","agent_id":"sub_1","artifact":{"filename":"a.txt","content":"x"}}`,
		`say:{"type":"artifact","agent_id":"sub_1","artifact":{"path":"/etc/passwd"}}`,
		`say:{"type":"permission_request","agent_id":"sub_1","request_id":"r1","tool_name":"Bash","input":{}}`, "hear",
		`say:{"type":"done","answer":"outside"}`)
	b.profile.Permission, b.profile.Policy = true, profile.DenyAll
	b.play(t).must(t,
		"text I ask.", "text |", `input 0 {"a":`, `fact run.agent.task_started {"agent_id":"sub_1","name":"helper"}`,
		"sub_1: thought hm", "sub_1: thought so", "sub_1: thought but (apart)", "sub_1: input  {}", "sub_1: text inside", "sub_1: call 1 grep {}", "sub_1: result 1 grep 1",
		"sub_1: artifact a.txt text/plain; charset=utf-8 1", `sub_1: call  artifact {"filename":"/etc/passwd"}`,
		"sub_1: failed  artifact invalid_request", "sub_1: asks policy r1 Bash {}", "policy deny-all deny",
		`text {"type":"permission_response","request_id":"r1","behavior":"deny","message":"The policy of this agent allows no tool that asks."}`, "done outside")
}

func TestArtifactsAreKeptByPathAndByContent(t *testing.T) {
	b := newBench(t, profile.Events,
		"write:report.md=# Report", `say:{"type":"artifact","artifact":{"path":"report.md","content_type":"text/markdown"}}`,
		`say:{"type":"artifact","artifact":{"filename":"../a\nb.json","content":"{}"}}`,
		`say:{"type":"artifact","artifact":{"filename":"x.bin","content_type":"no type","content_base64":"/wA="}}`,
		`say:{"type":"artifact","artifact":{"path":"/etc/passwd"}}`,
		`say:{"type":"artifact","artifact":{"filename":"big","content":"refuse"}}`,
		`say:{"type":"done"}`)
	b.play(t).must(t,
		"artifact report.md text/markdown 8", "artifact ab.json application/json 2", "artifact x.bin application/octet-stream 2",
		`call  artifact {"filename":"/etc/passwd"}`, "failed  artifact invalid_request",
		`call  artifact {"filename":"big"}`, "failed  artifact too_large", "done ")
	if got := string(b.blobs.blobs[event.TextChecksum("# Report")]); got != "# Report" {
		t.Errorf("stored %q", got)
	}
}

func TestSecretsInArtifactsAreRedacted(t *testing.T) {
	b := newBench(t, profile.Events, "write:out.txt=key: sk-live-4f9a0c77", `say:{"type":"artifact","artifact":{"path":"out.txt"}}`,
		`say:{"type":"tool_call","tool_call_id":"1","tool_name":"curl","tool_args":{"h":"Bearer sk-live-4f9a0c77"}}`,
		`say:{"type":"tool_result","tool_call_id":"1","tool_name":"curl","error":{"code":"x","message":"sk-live-4f9a0c77"}}`, `say:{"type":"done"}`)
	b.profile.Env["API_KEY"] = "sk-live-4f9a0c77"
	b.play(t).must(t, "artifact out.txt text/plain; charset=utf-8 15", `call 1 curl {"h":"Bearer [redacted]"}`, "failed 1 curl x", "done ")
	for _, content := range b.blobs.blobs {
		if string(content) != "key: [redacted]" {
			t.Errorf("stored %q", content)
		}
	}
}

func TestAnswerOfAFailedTurnIsNotLost(t *testing.T) {
	newBench(t, profile.Events, `say:{"type":"done","answer":"all of it"}`, "exit:3").play(t).must(t, "text all of it",
		"failure agent_exited: The agent ended with exit code 3 and did not say why; what it wrote to stderr may tell more.")
}

func TestScoutWorksInTheRepositoryOfTheEdge(t *testing.T) {
	b := newBench(t, profile.Events)
	b.profile.Executor, b.repo = profile.Scout, t.TempDir()
	p, err := b.executor(t).Start(t.Context(), b.job())
	if err != nil {
		t.Fatal(err)
	}
	p.Follow(t.Context(), func(run.AgentEvent) error { return nil })
	if p.WorkDir() != b.repo {
		t.Errorf("works in %s", p.WorkDir())
	}
}

func TestBridgeAgentMovesToEventsByAddingLines(t *testing.T) {
	newBench(t, profile.Events,
		`say:{"type":"partial","role":"thinking","text":"hm","session_id":"cli-1"}`,
		`say:{"type":"tool_call","tool_call_id":"1","tool_name":"search","tool_args":{}}`,
		`say:{"type":"tool_result","tool_call_id":"1","tool_name":"search","tool_result":[]}`,
		`say:{"type":"partial","text":"one ","session_id":"cli-1"}`,
		`say:{"type":"session_init","session_id":"cli-1"}`,
		`say:{"type":"delta","content":"two"}`,
		`say:{"type":"partial","text":"","session_id":"cli-2"}`,
		`say:{"type":"result","text":"one two","usage":{"output_tokens": 2},"session_id":"cli-1"}`,
		`say:{"type":"run.agent.session_metrics","payload":{"n":1}}`,
		`say:{"type":"result","text":"again"}`,
	).play(t).must(t,
		`fact run.agent.session_init {"agent_session_id":"cli-1"}`, "thought hm", "call 1 search {}", "result 1 search []", "text one ",
		"text two", `fact run.agent.session_metrics {"n":1}`,
		`fact run.agent.result {"usage":{"output_tokens":2},"exit_code":0}`, "done one two")
}

func TestLinesOfTheBridgeProtocolKeepItsRulesAmongEvents(t *testing.T) {
	for name, tt := range map[string]struct {
		steps []string
		want  []string
	}{
		"exit 0 after partials alone is success": {[]string{`say:{"type":"partial","text":"x"}`}, []string{"text x", "done "}},
		"an error after a result fails the turn": {
			[]string{`say:{"type":"result","text":"x"}`, `say:{"type":"error","message":"no luck"}`}, []string{"text x", "failure agent_error: no luck"},
		},
		"a session id counts after an error too": {
			[]string{`say:{"type":"error","message":"no luck"}`, `say:{"type":"partial","text":"y","session_id":"s"}`},
			[]string{`fact run.output.batch {"stream":"stdout","lines":["{\"type\":\"partial\",\"text\":\"y\",\"session_id\":\"s\"}"]}`,
				`fact run.agent.session_init {"agent_session_id":"s"}`, "failure agent_error: no luck"},
		},
		"nothing is said after done": {
			[]string{`say:{"type":"done","answer":"x"}`, `say:{"type":"partial","text":"y"}`},
			[]string{`fact run.output.batch {"stream":"stdout","lines":["{\"type\":\"partial\",\"text\":\"y\"}"]}`, "done x"},
		},
		"the first session counts": {
			[]string{`say:{"type":"session_init","session_id":"a"}`, `say:{"type":"session_init","session_id":"b"}`, `say:{"type":"done"}`},
			[]string{`fact run.agent.session_init {"agent_session_id":"a"}`, "done "},
		},
		"done without an answer has that of the result": {[]string{`say:{"type":"result","text":"x"}`, `say:{"type":"done"}`}, []string{"done x"}},
	} {
		t.Run(name, func(t *testing.T) { newBench(t, profile.Events, tt.steps...).play(t).must(t, tt.want...) })
	}
}

func TestPartialsOfEventsAgentsAreNotShownWithoutStreaming(t *testing.T) {
	b := newBench(t, profile.Events, `say:{"type":"partial","text":"half"}`, `say:{"type":"result","text":"whole"}`)
	b.profile.Streaming = false
	b.play(t).must(t, "done whole")
}

// What only agents of the bridge protocol can say.

func TestPartialsAreNotShownWithoutStreaming(t *testing.T) {
	b := newBench(t, profile.Bridge, `say:{"type":"partial","text":"half"}`, `say:{"type":"result","text":"whole"}`)
	b.profile.Streaming = false
	b.play(t).must(t, "done whole")
}

func TestUsageIsKeptAsTheAgentWroteIt(t *testing.T) {
	newBench(t, profile.Bridge, `say:{"type":"result","text":"x","usage":{"input_tokens":3, "cost_usd":1e-3}}`,
		`say:{"type":"result","text":"second"}`).play(t).must(t,
		`fact run.agent.result {"usage":{"input_tokens":3,"cost_usd":1e-3},"exit_code":0}`, "done x")
}

func TestArgumentsOfAProfileAreNoShell(t *testing.T) {
	b := newBench(t, profile.Bridge, "stderr:;touch x", "stderr:$(touch x)", "stderr:two  words", `say:{"type":"result","text":""}`)
	b.play(t).must(t, `fact run.output.batch {"stream":"stderr","lines":[";touch x","$(touch x)","two  words"]}`, "done ")
	if _, err := os.Stat(filepath.Join(b.dir, "x")); !os.IsNotExist(err) {
		t.Error("something was executed")
	}
}

func TestRawOutputIsBounded(t *testing.T) {
	steps := []string{}
	for range 400 {
		steps = append(steps, "big:5000")
	}
	tr := newBench(t, profile.Bridge, steps...).play(t)
	total := len(strings.Join(tr.lines, ""))
	last := tr.lines[len(tr.lines)-2]
	if total > 1100<<10 || !strings.Contains(last, "lines dropped]") {
		t.Errorf("%d bytes, the last batch ends in %s", total, last[max(0, len(last)-60):])
	}
}
