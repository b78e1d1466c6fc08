package run_test

import (
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// said is what one agent of a run has open in a log that is being read.
type said struct {
	message    id.Message
	text       strings.Builder
	open, seen map[string]bool // tools
}

// checkLog holds a whole log to what readers rely on, for each agent in it by itself.
func checkLog(t fatal, log []run.Candidate) {
	t.Helper()
	rows(t, log) // every event fits a row
	agents := map[event.SubAgent]*said{}
	of := func(agent event.SubAgent) *said {
		if agent == "main" {
			t.Fatalf("the run's own agent is named in its log")
		}
		if agents[agent] == nil {
			agents[agent] = &said{open: map[string]bool{}, seen: map[string]bool{}}
		}
		return agents[agent]
	}
	final := id.Message("")
	for i, c := range log {
		switch p := c.Payload.(type) {
		case event.MessageStartedPayload:
			of(p.AgentID).start(t, i, p)
		case event.DeltaPayload:
			of(p.AgentID).hear(t, i, c.Type, p)
		case event.ToolInputPayload:
			if s := of(p.AgentID); p.MessageID != s.message || p.PartialJSON == "" {
				t.Fatalf("%d: input in %q while %q is open", i, p.MessageID, s.message)
			}
		case event.MessageCompletedPayload:
			of(p.AgentID).complete(t, i, p)
			if p.AgentID == "" && p.Content != "" {
				final = p.MessageID
			}
		case event.ToolStartedPayload:
			of(p.AgentID).call(t, i, p.ToolCallID)
		case event.ToolOutputPayload:
			if !of(p.AgentID).open[p.ToolCallID] {
				t.Fatalf("%d: output of %q, which is not open", i, p.ToolCallID)
			}
		case event.ToolCompletedPayload:
			closeTool(t, of(p.AgentID).open, p.ToolCallID)
		case event.ToolFailedPayload:
			closeTool(t, of(p.AgentID).open, p.ToolCallID)
		case event.RunCompletedPayload:
			if p.MessageID != final {
				t.Fatalf("%d: the answer is %q, the run's own agent last said %q", i, p.MessageID, final)
			}
		}
		if agent, ok := run.EndOf(run.Fact(c)); ok {
			of(agent).checkEnd(t, agent)
		}
		if last := i == len(log)-1; c.Type.Terminal() != last {
			t.Fatalf("%d: %s at place %d of %d", i, c.Type, i, len(log))
		}
	}
	for agent, s := range agents {
		s.checkEnd(t, agent)
	}
}

func (s *said) start(t fatal, i int, p event.MessageStartedPayload) {
	t.Helper()
	if s.message != "" {
		t.Fatalf("%d: message inside a message", i)
	}
	s.message = p.MessageID
	s.text.Reset()
}

func (s *said) hear(t fatal, i int, kind event.Type, p event.DeltaPayload) {
	t.Helper()
	if p.Delta == "" && !p.Last {
		t.Fatalf("%d: a piece of nothing", i)
	}
	if kind == event.Thinking && p.MessageID == "" {
		return // it stands by itself
	}
	if p.MessageID != s.message || p.Last && kind != event.Thinking {
		t.Fatalf("%d: delta of %q while %q is open", i, p.MessageID, s.message)
	}
	if kind == event.MessageDelta {
		s.text.WriteString(p.Delta)
	}
}

func (s *said) complete(t fatal, i int, p event.MessageCompletedPayload) {
	t.Helper()
	if p.MessageID != s.message || (s.text.Len() > 0 && p.Content != s.text.String()) || p.ContentChecksum != event.TextChecksum(p.Content) {
		t.Fatalf("%d: message %+v does not match its deltas %q", i, p, s.text.String())
	}
	s.message = ""
}

func (s *said) call(t fatal, i int, callID string) {
	t.Helper()
	if s.seen[callID] || callID == "" {
		t.Fatalf("%d: tool %q starts again", i, callID)
	}
	s.seen[callID], s.open[callID] = true, true
}

func (s *said) checkEnd(t fatal, agent event.SubAgent) {
	t.Helper()
	if s.message != "" || len(s.open) > 0 {
		t.Fatalf("%q left open: message %q, tools %v", agent, s.message, s.open)
	}
}

func closeTool(t fatal, open map[string]bool, callID string) {
	t.Helper()
	if !open[callID] {
		t.Fatalf("tool %q ends without running", callID)
	}
	delete(open, callID)
}
