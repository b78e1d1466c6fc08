package trial_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/trial"
	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// asks asks for two tools at once and repeats the answers.
const asks = `read -r turn
printf '{"type":"permission_request","request_id":"1","tool_name":"Read","input":{"path":"a"}}\n'
printf '{"type":"permission_request","request_id":"2","tool_name":"Bash","input":{"command":"rm a"},"description":"tidies up"}\n'
read -r one; read -r two
for answer in "$one" "$two"; do printf '%s\n' "$answer" | sed 's/^/answer: /' >&2; done
printf '{"type":"result","text":"ended"}\n'
`

const (
	allowed1 = `answer: {"type":"permission_response","request_id":"1","behavior":"allow"}`
	allowed2 = `answer: {"type":"permission_response","request_id":"2","behavior":"allow"}`
	denied2  = `answer: {"type":"permission_response","request_id":"2","behavior":"deny","message":`
)

func askingAgent(t *testing.T, script string, policy profile.Policy) trial.Agent {
	t.Helper()
	a := agent(t, profile.Bridge, script)
	a.Profile.Permission, a.Profile.Policy = true, policy
	return a
}

func TestPolicyAnswersAndTheRestIsForAPerson(t *testing.T) {
	for policy, want := range map[profile.Policy][]string{
		profile.AllowAll:      {allowed1, allowed2, "allowed │ Read", "allowed │ Bash"},
		profile.DenyAll:       {`"request_id":"1","behavior":"deny"`, denied2, "denied  │ Bash The policy allows no tool that asks."},
		profile.AllowReadonly: {allowed1, denied2, "denied  │ Bash There is no terminal to ask at"},
		profile.Ask:           {`"request_id":"1","behavior":"deny"`, denied2},
	} {
		a := askingAgent(t, asks, policy)
		got := play(t.Context(), t, a, bridge.Turn{Message: "x"}, trial.ByPolicy{Profile: a.Profile, Person: trial.Nobody{}})
		if got.out != "ended\n" || got.ExitCode != 0 {
			t.Errorf("%s: %q, %+v", policy, got.out, got.Result)
		}
		mustHold(t, got.err, want...)
	}
}

// terminal returns the two ends of a terminal: the program's, and the person's.
func terminal(t *testing.T) (trial.Terminal, net.Conn) {
	t.Helper()
	program, person := net.Pipe()
	t.Cleanup(func() { program.Close(); person.Close() })
	return program, person
}

func TestPersonIsAskedForOneToolAfterTheOther(t *testing.T) {
	program, person := terminal(t)
	typed := make(chan string, 1)
	go func() {
		in := bufio.NewReader(person)
		var seen strings.Builder
		for _, answer := range []string{"perhaps\n", "Y\n", "n not now\n"} {
			text, _ := in.ReadString(']')
			seen.WriteString(text)
			_, _ = io.WriteString(person, answer)
		}
		typed <- seen.String()
	}()
	a := askingAgent(t, asks, profile.Ask)
	got := play(t.Context(), t, a, bridge.Turn{Message: "x"}, trial.ByPolicy{Profile: a.Profile, Person: trial.AskAt(program)})
	mustHold(t, got.err, allowed1, denied2+`"not now"}`, "denied  │ Bash not now")
	mustHold(t, <-typed, `The agent asks to use Read: {"path":"a"}`, `Bash: {"command":"rm a"}`+"\ntidies up")
}

func TestPersonWhoDoesNotAnswerHoldsUpNoTurnThatHasEnded(t *testing.T) {
	program, person := terminal(t)
	go io.Copy(io.Discard, person) //nolint:errcheck // until the test closes it
	a := askingAgent(t, asks, profile.Ask)
	a.Profile.Timeout = 300 * time.Millisecond
	got := play(t.Context(), t, a, bridge.Turn{Message: "x"}, trial.AskAt(program))
	if got.ExitCode != bridge.ExitTimeout {
		t.Errorf("%+v", got.Result)
	}
}

func TestEndOfTheTerminalIsANo(t *testing.T) {
	program, person := terminal(t)
	go func() {
		_, _ = bufio.NewReader(person).ReadString(']')
		person.Close()
	}()
	answer := trial.AskAt(program).Approve(context.Background(), bridge.PermissionRequest{RequestID: "1", ToolName: "Bash"})
	if answer.Behavior != bridge.Deny {
		t.Errorf("%+v", answer)
	}
}

func TestMalformedRequestIsDeniedWithoutAsking(t *testing.T) {
	a := askingAgent(t, `read -r turn
printf '{"type":"permission_request","request_id":"1","input":{}}\n'; read -r answer; echo "$answer" >&2; printf '{"type":"result","text":"x"}\n'`, profile.AllowAll)
	got := play(t.Context(), t, a, bridge.Turn{Message: "x"}, trial.ByPolicy{Profile: a.Profile})
	mustHold(t, got.err, `"behavior":"deny","message":"The request was malformed."`, "warning │ bad_permission_request")
}

func TestMoreRequestsThanAnybodyCanAnswerAreDenied(t *testing.T) {
	a := askingAgent(t, `read -r turn; i=0
while [ $i -lt 600 ]; do printf '{"type":"permission_request","request_id":"%s","tool_name":"Bash","input":{}}\n' $i; i=$((i+1)); done
i=0; while read -r answer; do i=$((i+1)); case $answer in *"Too many"*) break ;; esac; done
printf '{"type":"result","text":"enough"}\n'`, profile.Ask)
	blocked := approverUntilTheEnd{}
	if got := play(t.Context(), t, a, bridge.Turn{Message: "x"}, blocked); got.out != "enough\n" {
		t.Errorf("%q, %+v", got.out, got.Result)
	}
}

// approverUntilTheEnd answers when nobody listens any more.
type approverUntilTheEnd struct{ trial.Nobody }

func (approverUntilTheEnd) Approve(ctx context.Context, _ bridge.PermissionRequest) bridge.PermissionResponse {
	<-ctx.Done()
	return bridge.PermissionResponse{Behavior: bridge.Deny}
}
