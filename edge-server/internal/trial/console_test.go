package trial_test

import (
	"bufio"
	"context"
	"io"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/trial"
	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// hears repeats what it is told behind what it asks.
const hears = `read -r turn
printf '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{}}\n'
for i in 1 2 3; do read -r told; printf '%s\n' "$told" | sed 's/^/told: /' >&2; done
printf '{"type":"done","answer":"ended"}\n'
`

func TestAPersonTellsAnAgentThingsBetweenItsQuestions(t *testing.T) {
	program, person := terminal(t)
	console, err := trial.NewConsole(program)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- console.Run(ctx) }()
	a := agent(t, profile.Events, hears)
	a.Profile.Permission, a.Profile.Controls, a.Told = true, []string{"steer", "compact"}, console.Told()
	typed := make(chan error, 1)
	go func() {
		seen := bufio.NewReader(person)
		_, err := seen.ReadString(']') // of the hint: it is asked
		if err == nil {
			_, err = io.WriteString(person, "/steer  only Go \n/retry\n/compact\ny\n")
		}
		typed <- err
		_, _ = io.Copy(io.Discard, seen)
	}()
	got := play(t.Context(), t, a, bridge.Turn{Message: "x"}, trial.AskAt(console))
	if err := <-typed; err != nil || got.out != "ended\n" {
		t.Errorf("%v, %q", err, got.out)
	}
	mustHold(t, got.err, `told: {"type":"steer","steer_id":"steer_`, `"text":"only Go"}`, `told: {"type":"compact"}`,
		`told: {"type":"permission_response","request_id":"1","behavior":"allow"}`, "cannot be told retry_now")
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the console reads on")
	}
	if err := console.Close(); err != nil {
		t.Error(err)
	}
}
