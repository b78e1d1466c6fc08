package runtime_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const aSteer = "steer_0123456789abcdef"

func tellRun(p admission.Process, o wire.ControlOrder) error {
	deliver, err := p.Control(o)
	if err == nil {
		deliver()
	}
	return err
}

// working starts the agent of a bench and follows it; at is called for each thing that it says.
func (b *bench) working(t *testing.T, at func(p admission.Process, line string)) (lines []string, p admission.Process) {
	t.Helper()
	p, err := b.executor(t).Start(t.Context(), b.job())
	if err != nil {
		t.Fatal(err)
	}
	p.Follow(t.Context(), func(e run.AgentEvent) error {
		lines = append(lines, describe(e))
		at(p, describe(e))
		return nil
	})
	return lines, p
}

func TestAnAgentHearsWhatItIsToldBetweenItsAnswers(t *testing.T) {
	b := newBench(t, profile.Events, `say:{"type":"state_change","state":"ready"}`, "hear", "hear", "hear",
		`say:{"type":"permission_request","request_id":"r1","tool_name":"Bash","input":{}}`, "hear", "hear", `say:{"type":"done"}`)
	b.profile.Permission, b.profile.Controls = true, wire.Controls()
	lines, _ := b.working(t, func(p admission.Process, line string) {
		var err error
		switch {
		case line == "state ready":
			for _, o := range []wire.ControlOrder{
				{What: wire.ControlSteer, SteerID: aSteer, Text: "a < b"}, {What: wire.ControlRetryNow}, {What: wire.ControlCompact},
				{What: wire.ControlApprovalMode, Mode: wire.DenyAll}, // which the agent does not hear of
			} {
				if err == nil {
					err = tellRun(p, o)
				}
			}
		case strings.HasPrefix(line, "policy"):
			err = tellRun(p, wire.ControlOrder{What: wire.ControlSteer, SteerID: aSteer, Text: "behind it"})
		}
		if err != nil {
			t.Error(err)
		}
	})
	answer := heard("r1", `"behavior":"deny","message":"The approval mode of this conversation allows no tool that asks."`)
	behind := fmt.Sprintf(`text {"type":"steer","steer_id":%q,"text":"behind it"}`, aSteer)
	want := []string{
		"state ready", fmt.Sprintf(`text {"type":"steer","steer_id":%q,"text":"a < b"}`, aSteer), `text {"type":"retry_now"}`, `text {"type":"compact"}`,
		"asks policy r1 Bash {}", "policy mode:deny-all deny", behind, answer, "done ",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("said\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// What is told to a process whose turn has not begun, as to a run that waited for its place, comes behind the turn line.
func TestNothingComesBeforeTheTurnLine(t *testing.T) {
	b := newBench(t, profile.Events, "stderr:$TURN", "hear", "hear", `say:{"type":"done"}`)
	b.profile.Controls = []string{"steer"}
	p, err := b.executor(t).Start(t.Context(), b.job())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if err := tellRun(p, wire.ControlOrder{What: wire.ControlSteer, SteerID: aSteer, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	var lines []string
	p.Follow(t.Context(), func(e run.AgentEvent) error { lines = append(lines, describe(e)); return nil })
	said := strings.ReplaceAll(strings.Join(lines, "\n"), `\"`, `"`)
	for _, want := range []string{`{"type":"turn","message":"hello"`, `text {"type":"steer","steer_id":"` + aSteer + `","text":"one"}` + "\ntext " + `{"type":"steer","steer_id":"` + aSteer + `","text":"two"}`} {
		if !strings.Contains(said, want) {
			t.Errorf("no %s in\n%s", want, said)
		}
	}
}

// The mode is read anew for each request of one turn, and the person's own answer is asked for again when it is taken back.
func TestTheModeIsReadForEachRequest(t *testing.T) {
	b := newBench(t, profile.Bridge, asking("r1", "Bash", "{}"), "hear", asking("r2", "Bash", "{}"), "hear", asking("r3", "Bash", "{}"), "hear", ended)
	b.profile.Permission = true
	job := b.job()
	job.Approval = wire.AllowAll
	p, err := b.executor(t).Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	p.Follow(t.Context(), func(e run.AgentEvent) error {
		line := describe(e)
		if !strings.HasPrefix(line, "text") && !strings.HasPrefix(line, "delivered") {
			lines = append(lines, line)
		}
		mode, change := map[string]wire.ApprovalMode{"policy mode:allow-all allow": wire.DenyAll, "policy mode:deny-all deny": wire.AlwaysAsk}[line]
		if change {
			if err := tellRun(p, wire.ControlOrder{What: wire.ControlApprovalMode, Mode: mode}); err != nil {
				t.Error(err)
			}
		}
		if asked, ok := e.(run.Asked); ok && asked.Asks == event.Person {
			says(event.Allow, nil)(asked.PromptRequestedPayload, answering(p))
		}
		return nil
	})
	want := []string{
		"asks policy r1 Bash {}", "policy mode:allow-all allow", "asks policy r2 Bash {}", "policy mode:deny-all deny", "asks person r3 Bash {}", "done ",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("said\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

func TestWhatAnAgentCannotBeToldIsRefused(t *testing.T) {
	steer := wire.ControlOrder{What: wire.ControlSteer, SteerID: aSteer, Text: "x"}
	t.Run("of the bridge protocol", func(t *testing.T) {
		b := newBench(t, profile.Bridge, `say:{"type":"partial","text":"hi"}`, ended)
		_, p := b.working(t, func(p admission.Process, line string) {
			if err := tellRun(p, steer); line == "text hi" && fault.CodeOf(err) != fault.UnsupportedByRuntime {
				t.Errorf("told: %v", err)
			}
		})
		if err := tellRun(p, wire.ControlOrder{What: wire.ControlApprovalMode, Mode: wire.AllowAll}); err != nil {
			t.Errorf("a mode: %v", err)
		}
	})
	t.Run("that cannot do this", func(t *testing.T) {
		b := newBench(t, profile.Events, `say:{"type":"state_change","state":"ready"}`, `say:{"type":"done"}`, "drain")
		b.profile.Controls = []string{"steer"}
		_, p := b.working(t, func(p admission.Process, line string) {
			if err := tellRun(p, wire.ControlOrder{What: wire.ControlCompact}); line == "state ready" && fault.CodeOf(err) != fault.UnsupportedByRuntime {
				t.Errorf("told: %v", err)
			}
		})
		if err := tellRun(p, steer); fault.CodeOf(err) != fault.TooLate {
			t.Errorf("after its end: %v", err)
		}
	})
}

func TestATurnThatOnlyCompacts(t *testing.T) {
	for _, c := range []struct {
		controls []string
		thinking wire.ThinkingLevel
		want     string
	}{
		{nil, "high", "unsupported_by_runtime"},
		{[]string{"steer"}, "", "unsupported_by_runtime"},
		{[]string{"compact"}, "high", `{"type":"turn","message":"","session_id":"","session_name":"demo","compact":true,"protocol_version":"0.4"}`},
		{
			wire.Controls(), "high",
			`{"type":"turn","message":"","session_id":"","session_name":"demo","compact":true,"thinking_level":"high","protocol_version":"0.4"}`,
		},
	} {
		b := newBench(t, profile.Events, "stderr:$TURN", `say:{"type":"done"}`)
		b.profile.Controls, b.prompt = c.controls, ""
		job := b.job()
		job.Compact, job.Thinking = true, c.thinking
		p, err := b.executor(t).Start(t.Context(), job)
		if err != nil {
			if string(fault.CodeOf(err)) != c.want {
				t.Errorf("%v: %v", c.controls, err)
			}
			continue
		}
		var said string
		p.Follow(t.Context(), func(e run.AgentEvent) error { said += describe(e) + "\n"; return nil })
		if plain := strings.ReplaceAll(said, `\"`, `"`); !strings.Contains(plain, c.want) {
			t.Errorf("%v: %s", c.controls, plain)
		}
	}
	b := newBench(t, profile.Bridge, ended)
	job := b.job()
	job.Prompt, job.Compact = "", true
	if _, err := b.executor(t).Start(t.Context(), job); fault.CodeOf(err) != fault.UnsupportedByRuntime {
		t.Errorf("of the bridge protocol: %v", err)
	}
}
