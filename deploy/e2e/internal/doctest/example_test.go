package doctest

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// examples returns the lines of the examples in a document that are marked as language.
func examples(t *testing.T, name, language string) []string {
	t.Helper()
	_, documents := repository(t)
	var lines []string
	for _, d := range documents {
		if d.Path != name {
			continue
		}
		for _, block := range d.Blocks {
			if block.Language == language {
				lines = append(lines, strings.Split(strings.TrimSpace(block.Code), "\n")...)
			}
		}
	}
	if len(lines) == 0 {
		t.Fatalf("%s has no example in %s", name, language)
	}
	return lines
}

func TestExamplesOfTheEventsRuntimeAreLinesOfIt(t *testing.T) {
	for _, line := range examples(t, "docs/protocols/events-runtime.md", "json") {
		if _, err := agentline.Parse([]byte(line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestExamplesOfTheBridgeAreTurns(t *testing.T) {
	for _, line := range examples(t, "docs/protocols/bridge.md", "json") {
		turn, err := bridge.ParseTurn([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if encoded, err := turn.Encode(); err != nil || strings.TrimSpace(string(encoded)) != line {
			t.Errorf("the edge writes %s (%v), the document says %s", encoded, err, line)
		}
	}
}

// TestExamplesOfPermissionAreWhatIsReadAndWritten: the first line is the agent's, the others answer it.
func TestExamplesOfPermissionAreWhatIsReadAndWritten(t *testing.T) {
	lines := examples(t, "docs/protocols/bridge.md", "ndjson")
	asked, err := bridge.ParseLine([]byte(lines[0]))
	if err != nil || asked.Request.Malformed || asked.Request.ToolUseID == "" {
		t.Errorf("%s: %+v, %v", lines[0], asked, err)
	}
	answers := []bridge.PermissionResponse{
		{RequestID: asked.Request.RequestID, Behavior: bridge.Allow}, {RequestID: asked.Request.RequestID, Behavior: bridge.Deny, Message: "Not today."},
	}
	if len(lines) != 1+len(answers) {
		t.Fatalf("%d lines", len(lines))
	}
	for i, a := range answers {
		if encoded, err := a.Encode(); err != nil || strings.TrimSpace(string(encoded)) != lines[i+1] {
			t.Errorf("the edge writes %s (%v), the document says %s", encoded, err, lines[i+1])
		}
	}
}

func TestTheCompleteAgentOfTheBridgePageIsOne(t *testing.T) {
	_, documents := repository(t)
	var script string
	for _, d := range documents {
		for _, block := range d.Blocks {
			if d.Path == "docs/protocols/bridge.md" && strings.HasPrefix(block.Code, "#!/bin/sh") {
				script = block.Code
			}
		}
	}
	turn, err := bridge.Turn{Message: "hello"}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	agent := exec.CommandContext(t.Context(), "sh", "-c", script)
	agent.Stdin = strings.NewReader(string(turn))
	out, err := agent.Output()
	if err != nil {
		t.Fatal(err)
	}
	state := bridge.NewTurnState(bridge.Profile{Streaming: true})
	for line := range strings.Lines(string(out)) {
		for _, effect := range state.StepBytes([]byte(line)) {
			if warning, ok := effect.(bridge.Warn); ok {
				t.Errorf("%s: %s", line, warning.Reason)
			}
		}
	}
	if o := state.Finish(bridge.Exit{}); !o.OK() || !o.Streamed {
		t.Errorf("the turn came to %+v", o)
	}
}
