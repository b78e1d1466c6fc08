package runtime_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

const (
	refusedRequest  = `say:{"type":"run.agent.request_end","payload":{"request_id":"1","status":"auth","error_message":"No key."}}`
	acceptedRequest = `say:{"type":"run.agent.request_end","payload":{"request_id":"2","status":"completed"}}`
	failedTurn      = `say:{"type":"error","error_code":"permission_denied","error_message":"No key."}`
)

// tries plays a turn with an executor that has played others. The error is that of its start.
func (b *bench) tries(t *testing.T, e *runtime.Executor) error {
	t.Helper()
	job := b.job()
	p, err := e.Start(t.Context(), job)
	if err != nil {
		return err
	}
	p.Follow(t.Context(), func(run.AgentEvent) error { return nil })
	return b.host.Sweep(t.Context(), process.Nonce(job.Nonce))
}

func TestARefusedKeyDisablesTheProfileUntilItChanges(t *testing.T) {
	b := newBench(t, profile.Events, refusedRequest, failedTurn)
	b.profile.Env["API_KEY"] = "${MY_KEY}"
	b.env = map[string]string{"MY_KEY": "first-key"}
	e := b.executor(t)
	if err := b.tries(t, e); err != nil {
		t.Fatal(err)
	}
	err := b.tries(t, e)
	if fault.CodeOf(err) != fault.AuthRequired || !strings.Contains(fault.Public(err).Detail, "credentials of test") || strings.Contains(err.Error(), "first-key") {
		t.Fatalf("the second turn: %v", err)
	}
	b.env["MY_KEY"] = "second-key"
	if err := b.tries(t, e); err != nil {
		t.Fatalf("with another key: %v", err)
	}
	if err := b.tries(t, e); fault.CodeOf(err) != fault.AuthRequired {
		t.Fatalf("that was refused too: %v", err)
	}
	if err := b.tries(t, b.executor(t)); err != nil {
		t.Fatalf("after a restart of the edge: %v", err)
	}
}

func TestOnlyTheLastRequestOfTheAgentItselfDisablesItsProfile(t *testing.T) {
	for name, steps := range map[string][]string{
		"it went on":      {refusedRequest, acceptedRequest, failedTurn},
		"a sub-agent's":   {`say:{"type":"run.agent.request_end","payload":{"request_id":"1","agent_id":"sub_1","status":"auth"}}`, failedTurn},
		"it logged in":    {refusedRequest, `say:{"type":"run.agent.auth_status","payload":{"status":"ok"}}`, failedTurn},
		"another failure": {`say:{"type":"run.agent.request_end","payload":{"request_id":"1","status":"failed"}}`, failedTurn},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, profile.Events, steps...)
			e := b.executor(t)
			for range 2 {
				if err := b.tries(t, e); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
