package runtime_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// asking is a step of an agent that asks for a tool; input is an object.
func asking(request, tool, input string) string {
	return fmt.Sprintf(`say:{"type":"permission_request","request_id":%q,"tool_name":%q,"input":%s}`, request, tool, input)
}

// heard is what the agent says of a response that it has read.
func heard(request, rest string) string {
	return fmt.Sprintf(`text {"type":"permission_response","request_id":%q,%s}`, request, rest)
}

const ended = `say:{"type":"result","text":""}`

// says answers every prompt in the same way.
func says(decision event.Decision, change func(*wire.Answer)) func(event.PromptRequestedPayload, func(wire.Answer) error) {
	return func(p event.PromptRequestedPayload, answer func(wire.Answer) error) {
		a := wire.Answer{RequestID: p.RequestID, Decision: decision, Digest: p.Digest}
		if change != nil {
			change(&a)
		}
		if err := answer(a); err != nil {
			panic(err)
		}
	}
}

func digest(tool, input string) string {
	d, err := event.PromptDigest(tool, json.RawMessage(input))
	if err != nil {
		panic(err)
	}
	return d
}

// trip is a request on its way to whoever decides, and the answer on its way back.
type trip struct {
	rule      string
	off       bool // permission is not on in the profile
	policy    profile.Policy
	grants    []wire.Grant
	steps     []string
	person    func(event.PromptRequestedPayload, func(wire.Answer) error)
	want      []string
	delivered []string
}

func personTrips() []trip {
	ask := asking("r1", "Bash", `{"command":"ls","n":1.0}`)
	asks := `asks person r1 Bash {"command":"ls","n":1.0}`
	return []trip{
		{rule: "an allowed request is answered without the input, which the agent has", steps: []string{ask, "hear", ended},
			person: says(event.Allow, nil), want: []string{asks, heard("r1", `"behavior":"allow"`), "done "}, delivered: []string{"delivered allow"}},
		{rule: "an input that the person changed is passed on as it is", steps: []string{ask, "hear", ended},
			person: says(event.Allow, func(a *wire.Answer) { a.UpdatedInput = json.RawMessage(`{"command":"ls -l","n":1.0}`) }),
			want:   []string{asks, heard("r1", `"behavior":"allow","updated_input":{"command":"ls -l","n":1.0}`), "done "}, delivered: []string{"delivered allow"}},
		{rule: "a denied request is answered with the reason", steps: []string{ask, "hear", ended},
			person: says(event.Deny, func(a *wire.Answer) { a.Reason = "Not on a \"Sunday\"." }),
			want:   []string{asks, heard("r1", `"behavior":"deny","message":"Not on a \"Sunday\"."`), "done "}, delivered: []string{"delivered deny"}},
		{rule: "a denial without a reason has a sentence too", steps: []string{ask, "hear", ended}, person: says(event.Deny, nil),
			want: []string{asks, heard("r1", `"behavior":"deny","message":"A person denied the request."`), "done "}, delivered: []string{"delivered deny"}},
		{rule: "an agent that exits 0 after its answer has got it", steps: []string{ask, "read", "exit:0"}, person: says(event.Allow, nil),
			want: []string{asks, `fact run.output.batch {"stream":"stderr","lines":["read {\"type\":\"permission_response\",` +
				`\"request_id\":\"r1\",\"behavior\":\"allow\"}"]}`, "done "}, delivered: []string{"delivered allow"}},
		{rule: "an agent that dies after its answer may not have got it", steps: []string{ask, "read", "exit:3"}, person: says(event.Allow, nil),
			want: []string{asks, `fact run.output.batch {"stream":"stderr","lines":["read {\"type\":\"permission_response\",` +
				`\"request_id\":\"r1\",\"behavior\":\"allow\"}"]}`, "failure agent_exited: The agent ended with exit code 3 and did not say why; what it wrote to stderr may tell more."}},
		{rule: "a request brings the session and is not held back for it",
			steps: []string{strings.TrimSuffix(ask, "}") + `,"session_id":"s-1"}`, "hear", ended}, person: says(event.Allow, nil),
			want: []string{`fact run.agent.session_init {"agent_session_id":"s-1"}`, asks, heard("r1", `"behavior":"allow"`), "done "}, delivered: []string{"delivered allow"}},
		{rule: "a repeated request is asked and answered once", steps: []string{ask, ask, "hear", ended}, person: says(event.Allow, nil),
			want: []string{asks, heard("r1", `"behavior":"allow"`), "done "}, delivered: []string{"delivered allow"}},
		{rule: "a request is no text of the reply", steps: []string{ask, "hear", `say:{"type":"result","text":"not added"}`}, person: says(event.Allow, nil),
			want: []string{asks, heard("r1", `"behavior":"allow"`), "done "}, delivered: []string{"delivered allow"}},
	}
}

func bridgeTrips() []trip {
	return []trip{
		{rule: "a malformed request is denied when its id can be read", steps: []string{`say:{"type":"permission_request","request_id":"r1","tool_name":"Bash"}`, "hear", ended},
			want: []string{heard("r1", `"behavior":"deny","message":"The request was malformed."`), "done "}},
		{rule: "a request without an id is ignored", steps: []string{`say:{"type":"permission_request","tool_name":"Bash","input":{}}`, ended},
			want: []string{`fact run.output.batch {"stream":"stdout","lines":["{\"type\":\"permission_request\",\"tool_name\":\"Bash\",\"input\":{}}"]}`, "done "}},
		{rule: "while permission is off a request is ignored and stdin has ended", off: true, steps: []string{asking("r1", "Bash", "{}"), "hear", ended},
			want: []string{"done "}},
		{rule: "after its result the agent is not asked for", steps: []string{ended, "drain", asking("r1", "Bash", "{}")}, want: []string{"done "}},
		{rule: "after its error the agent is not asked for", steps: []string{`say:{"type":"error","message":"no luck"}`, asking("r1", "Bash", "{}")},
			want: []string{"failure agent_error: no luck"}},
	}
}

func policyTrips() []trip {
	ask := asking("r1", "Bash", `{"command":"ls"}`)
	granted := []wire.Grant{{RequestID: "req_1", Digest: digest("Bash", `{"command":"ls"}`)}}
	changed := []wire.Grant{{RequestID: "req_1", Digest: granted[0].Digest, UpdatedInput: json.RawMessage(`{"command":"ls -l"}`)}}
	no := says(event.Deny, func(a *wire.Answer) { a.Reason = "No." })
	return []trip{
		{rule: "allow-all asks nobody", policy: profile.AllowAll, steps: []string{ask, "hear", ended},
			want: []string{`asks policy r1 Bash {"command":"ls"}`, "policy allow-all allow", heard("r1", `"behavior":"allow"`), "done "}},
		{rule: "deny-all asks nobody", policy: profile.DenyAll, steps: []string{ask, "hear", ended},
			want: []string{`asks policy r1 Bash {"command":"ls"}`, "policy deny-all deny",
				heard("r1", `"behavior":"deny","message":"The policy of this agent allows no tool that asks."`), "done "}},
		{rule: "allow-readonly lets tools that only look through and asks for others", policy: profile.AllowReadonly, person: no,
			steps: []string{asking("r1", "Read", "{}"), "hear", asking("r2", "Bash", "{}"), "hear", ended},
			want: []string{"asks policy r1 Read {}", "policy allow-readonly allow", heard("r1", `"behavior":"allow"`),
				"asks person r2 Bash {}", heard("r2", `"behavior":"deny","message":"No."`), "done "}, delivered: []string{"delivered deny"}},
		{rule: "a grant allows the same request once", grants: granted, person: no, steps: []string{ask, "hear", asking("r2", "Bash", ` {"command": "ls"}`), "hear", ended},
			want: []string{`asks policy r1 Bash {"command":"ls"}`, "policy grant allow", heard("r1", `"behavior":"allow"`),
				`asks person r2 Bash {"command": "ls"}`, heard("r2", `"behavior":"deny","message":"No."`), "done "}, delivered: []string{"delivered deny"}},
		{rule: "a grant brings the input that the person changed", grants: changed, steps: []string{ask, "hear", ended},
			want: []string{`asks policy r1 Bash {"command":"ls"}`, `policy grant allow {"command":"ls -l"}`,
				heard("r1", `"behavior":"allow","updated_input":{"command":"ls -l"}`), "done "}},
		{rule: "a grant is for exactly what was shown", grants: granted, person: no, steps: []string{asking("r1", "Bash", `{"command":"ls /"}`), "hear", ended},
			want: []string{`asks person r1 Bash {"command":"ls /"}`, heard("r1", `"behavior":"deny","message":"No."`), "done "}, delivered: []string{"delivered deny"}},
		{rule: "deny-all counts before a grant", policy: profile.DenyAll, grants: granted, steps: []string{ask, "hear", ended},
			want: []string{`asks policy r1 Bash {"command":"ls"}`, "policy deny-all deny",
				heard("r1", `"behavior":"deny","message":"The policy of this agent allows no tool that asks."`), "done "}},
	}
}

func TestPermissionRoundTrips(t *testing.T) {
	for _, trips := range [][]trip{personTrips(), bridgeTrips(), policyTrips()} {
		for _, c := range trips {
			t.Run(c.rule, func(t *testing.T) {
				b := newBench(t, profile.Bridge, c.steps...)
				b.profile.Permission, b.profile.Policy, b.grants, b.person = !c.off, c.policy, c.grants, c.person
				tr := b.play(t)
				tr.must(t, c.want...)
				if !slices.Equal(tr.delivered, c.delivered) {
					t.Errorf("delivered %q, want %q", tr.delivered, c.delivered)
				}
			})
		}
	}
}
