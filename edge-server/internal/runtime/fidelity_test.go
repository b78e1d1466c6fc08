package runtime_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// opaque draws a JSON object as a provider may write it: any order, any spaces, numbers and escapes that an encoder would change, keys twice.
func opaque() *rapid.Generator[string] {
	value := rapid.SampledFrom([]string{
		`1.0`, `1e400`, `-0`, `1E+2`, `"\u003c<\/\u2028"`, `"gAAAA+/=="`, `[ ]`, `{"b":{ "a" : null}}`, "[1,\t2 ]", `"\ud83d\ude00 é"`, `true`,
	})
	return rapid.Custom(func(t *rapid.T) string {
		var fields []string
		for range rapid.IntRange(0, 5).Draw(t, "fields") {
			space := rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "space")
			fields = append(fields, space+`"`+rapid.SampledFrom([]string{"b", "a", "a", "id", `\u0061`}).Draw(t, "key")+`"`+space+`:`+space+value.Draw(t, "value")+space)
		}
		return "{" + strings.Join(fields, ",") + "}"
	})
}

// TestFidelityComesOutOfTheEdgeAsItCameIn has an agent attach objects to all that takes one, and reads them from the rows of its run.
func TestFidelityComesOutOfTheEdgeAsItCameIn(t *testing.T) {
	for _, secret := range []string{"", "sk-live-4f9a0c77"} {
		var given, lines []string
		for i := range 40 {
			f := opaque().Example(i)
			given = append(given, f, f, f, f)
			lines = append(lines,
				`say:{"type":"run.agent.thinking","payload":{"delta":"hm"},"last":true,"fidelity":`+f+`}`,
				`say:{"type":"run.agent.thinking","payload":{"delta":"so"},"apart":true,"last":true,"fidelity": `+f+` }`,
				`say:{"type":"delta","fidelity":`+f+`,"content":"x","last":true}`,
				fmt.Sprintf(`say:{"type":"tool_call","tool_call_id":"%d","tool_name":"read","fidelity":%s}`, i, f))
		}
		b := newBench(t, profile.Events, append(lines, `say:{"type":"delta","content":"y","fidelity":{"of":"no end"}}`, `say:{"type":"done"}`)...)
		b.profile.Env["API_KEY"] = secret
		b.play(t)
		var got []string
		for _, c := range logOf(b) {
			if f := fidelityOf(t, c); f != "" {
				got = append(got, f)
			}
		}
		if !slices.Equal(got, given) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(given, "\n"))
		}
	}
}

// fidelityOf reads it from the row that c is.
func fidelityOf(t *testing.T, c run.Candidate) string {
	t.Helper()
	encoded, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	row, err := event.AppendRow(nil, event.Envelope{
		Version: event.Version, ID: "evt_0123456789abcdef0123", Seq: 1, Type: event.Wire(c.Type), SentAt: time.Unix(1, 0), Payload: encoded,
	})
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := event.ParseRow(row)
	if err != nil {
		t.Fatal(err)
	}
	var p struct{ Fidelity event.Opaque }
	if err := json.Unmarshal(envelope.Payload, &p); err != nil {
		t.Fatal(err)
	}
	return string(p.Fidelity)
}

// logOf is what a run's log has of what the agent said.
func logOf(b *bench) (log []run.Candidate) {
	n := run.New(run.Options{})
	for _, e := range b.events {
		log = append(log, n.Step(e)...)
	}
	return log
}

func TestASecretInFidelityDropsItAndSaysSo(t *testing.T) {
	const secret = "sk-live-4f9a0c77"
	b := newBench(t, profile.Events,
		`say:{"type":"run.agent.thinking","payload":{"delta":"hm"},"last":true,"fidelity":{"k":"a `+secret+` b"}}`,
		`say:{"type":"delta","content":"x","last":true,"fidelity":{"`+secret+`":1}}`,
		`say:{"type":"tool_call","tool_call_id":"1","tool_name":"read","fidelity":{"k":"\u0073k-live-4f9a0c77"}}`,
		`say:{"type":"tool_call","tool_call_id":"2","tool_name":"read","fidelity":{"k":"sk-live"}}`, `say:{"type":"done"}`)
	b.profile.Env["API_KEY"] = secret
	b.play(t)
	var got []string
	for _, c := range logOf(b) {
		encoded, _ := c.Encode()
		if strings.Contains(string(encoded), "4f9a0c77") {
			t.Errorf("%s", encoded)
		}
		var p event.Fidelity
		if json.Unmarshal(encoded, &p) == nil && !p.IsZero() {
			got = append(got, fmt.Sprint(c.Type, p))
		}
	}
	want := []string{"run.agent.thinking{ secret}", "message.completed{ secret}", "tool.call.started{ secret}", `tool.call.started{{"k":"sk-live"} }`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestOutputsImagesAndWhatAModelRunsWithArePassedOn(t *testing.T) {
	b := newBench(t, profile.Events,
		`say:{"type":"session_init","session_id":"s","model":"m","provider":"p","model_context_window":8192,"system_prompt":"Be brief.","tools":[{"name":"a"}],"agent_state":"/s"}`,
		`say:{"type":"run.agent.tool_input","payload":{"tool_call_id":"1","tool_name":"bash","partial_json":"{"}}`,
		`say:{"type":"tool_call","tool_call_id":"1","tool_name":"bash"}`,
		`say:{"type":"run.agent.tool_output","payload":{"tool_call_id":"1","delta":"key: sk-live-"}}`,
		`say:{"type":"run.agent.tool_output","payload":{"tool_call_id":"1","delta":"4f9a0c77"}}`,
		`say:{"type":"tool_result","tool_call_id":"1","tool_name":"bash","tool_result":"key: sk-live-4f9a0c77","images":["data:image/png;base64,aGk="]}`,
		`say:{"type":"done"}`)
	b.profile.Env["API_KEY"] = "sk-live-4f9a0c77"
	b.play(t).must(t,
		`fact run.agent.session_init {"agent_session_id":"s","model":"m","provider":"p","model_context_window":8192,"system_prompt":"Be brief.",`+
			`"tools":[{"name":"a"}],"agent_state":"/s"}`,
		"input 1 { bash", "call 1 bash ", "output 1 key: ", "output 1 [redacted]", `result 1 bash "key: [redacted]"`, "done ")
	i := slices.IndexFunc(b.events, func(e run.AgentEvent) bool { _, ok := e.(run.ToolResult); return ok })
	if got := b.events[i].(run.ToolResult).Images; !slices.Equal(got, []string{"data:image/png;base64,aGk="}) {
		t.Errorf("images %q", got)
	}
}
