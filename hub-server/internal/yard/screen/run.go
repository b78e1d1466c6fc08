package screen

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
)

const argumentWidth = 60 // runes

func (n *Narrator) dispatch(payload json.RawMessage) {
	p, ok := read[client.AgentDispatchPayload](payload)
	if !ok {
		return
	}
	n.tell(p.TaskID, p.AgentInstanceID, p.SessionID)
	n.of(p.SessionID, n.name(p.AgentInstanceID)+n.style.Dim(" ← "+Line(p.TaskID, maxInTable)))
}

// tell returns the story of a run, begun if it is new.
func (n *Narrator) tell(run client.RunID, agent client.AgentID, session client.SessionID) *story {
	s := n.runs[run]
	if s == nil {
		s = &story{agent: agent, session: session, calls: map[string]call{}, said: map[client.MessageID]bool{}}
		n.runs[run] = s
	}
	return s
}

// stream tells one event of a run's log.
func (n *Narrator) stream(payload json.RawMessage) {
	p, ok := read[client.AgentStreamPayload](payload)
	if !ok {
		return
	}
	s := n.tell(p.TaskID, p.AgentInstanceID, p.SessionID)
	raw := json.RawMessage(p.Payload)
	switch t := event.Stored(event.WireType(p.EventType), raw); t {
	case event.Thinking, event.MessageDelta, event.MessageDone:
		n.words(p.TaskID, s, t, raw)
	case event.ToolStarted, event.ToolCompleted, event.ToolFailed:
		n.toolEvent(p, s, t, raw)
	case event.RunOutputBatch:
		n.output(p.TaskID, s, raw)
	case event.ArtifactCreated:
		if a, ok := read[event.ArtifactCreatedPayload](raw); ok {
			n.own(p.TaskID, s, n.style.Green("+ ")+Line(a.Filename, argumentWidth)+n.style.Dim(" "+Size(a.Size)+" "+Line(string(a.ArtifactID), maxInTable)))
		}
	case event.PromptRequested, event.PromptAnswered, event.PromptExpired, event.RunProcessEnded:
		n.prompt(p, s, t, raw)
	case event.RunRowRefused, event.RunLogGap:
		n.own(p.TaskID, s, n.style.Yellow("! part of this run could not be recorded"))
	default:
		n.state(p, s, t, raw)
	}
}

func (n *Narrator) words(run client.RunID, s *story, t event.Type, raw json.RawMessage) {
	if t == event.MessageDone {
		done, ok := read[event.MessageCompletedPayload](raw)
		if ok && done.AgentID != "" {
			n.own(run, s, n.style.Dim("↳ "+Line(string(done.AgentID)+": "+done.Content, 2*argumentWidth)))
			return
		}
		if ok && !s.said[client.MessageID(done.MessageID)] {
			n.piece(run, s, saying, done.Content)
			s.said[client.MessageID(done.MessageID)] = true
		}
		n.end()
		return
	}
	d, ok := read[event.DeltaPayload](raw)
	switch {
	case !ok || d.AgentID != "": // a sub-agent's message is told when it is whole
	case t == event.Thinking:
		n.piece(run, s, thinking, d.Delta)
	default:
		n.piece(run, s, saying, d.Delta)
		s.said[client.MessageID(d.MessageID)] = true
	}
}

func (n *Narrator) toolEvent(p client.AgentStreamPayload, s *story, t event.Type, raw json.RawMessage) {
	if t == event.ToolStarted {
		if started, ok := read[event.ToolStartedPayload](raw); ok {
			n.callTool(p, s, started)
		}
		return
	}
	done, ok := read[event.ToolFailedPayload](raw) // a completed one has no error
	if !ok {
		return
	}
	id := callID(done.AgentID, done.ToolCallID)
	c, known := s.calls[id]
	if !known {
		c.name = "tool"
	}
	delete(s.calls, id)
	if n.channel != calling || n.speaker != p.TaskID || n.tool != id {
		n.end()
		n.block(p.TaskID, s)
		n.text.WriteString("  " + n.style.Cyan("⚙ ") + Line(c.name, argumentWidth))
	}
	mark := n.style.Green(" ✓ ")
	if t == event.ToolFailed {
		mark = n.style.Red(" ✗ " + Line(done.Error.Message, argumentWidth) + " ")
	}
	took := ""
	if !c.since.IsZero() {
		took = n.style.Dim(Took(p.CreatedAt.Sub(c.since)))
	}
	n.text.WriteString(mark + took + "\n")
	n.channel = closed
}

// callID tells the calls of a run's agents apart: two of them may use the same id.
func callID(agent event.SubAgent, call string) string { return string(agent) + "\x00" + call }

// callTool leaves the line open for the result.
func (n *Narrator) callTool(p client.AgentStreamPayload, s *story, started event.ToolStartedPayload) {
	id := callID(started.AgentID, started.ToolCallID)
	s.calls[id] = call{name: started.ToolName, since: p.CreatedAt}
	n.end()
	n.block(p.TaskID, s)
	text := n.style.Cyan("⚙ ") + Line(started.ToolName, argumentWidth)
	if arguments := Arguments(started.Arguments, argumentWidth); arguments != "" {
		text += n.style.Dim(" " + arguments)
	}
	n.text.WriteString("  " + text)
	n.channel, n.tool = calling, id
}

func (n *Narrator) output(run client.RunID, s *story, raw json.RawMessage) {
	batch, ok := read[event.OutputBatchPayload](raw)
	if !ok {
		return
	}
	for _, line := range batch.Lines {
		n.own(run, s, n.style.Dim("┆ "+Line(line, 2*argumentWidth)))
	}
}

// state tells how the run as a whole stands.
func (n *Narrator) state(p client.AgentStreamPayload, s *story, t event.Type, raw json.RawMessage) {
	who := n.name(s.agent)
	switch t {
	case event.RunQueued:
		queued, _ := read[event.RunQueuedPayload](raw)
		n.of(s.session, who+n.style.Dim(" … "+Line(queued.Reason, 2*argumentWidth)))
	case event.RunStarted:
		started, _ := read[event.RunStartedPayload](raw)
		s.started = p.CreatedAt
		where := ""
		if started.WorkDir != "" {
			where = " in " + Line(started.WorkDir, 2*argumentWidth)
		}
		n.of(s.session, who+n.style.Dim(" ▶ started"+where))
		n.speaker = p.TaskID
	case event.RunCancelling:
		n.of(s.session, who+n.style.Yellow(" ■ stopping"))
	default:
		if t.Terminal() && !p.Late {
			s.ended = true
			n.of(s.session, who+" "+n.ending(t, raw, s.since(p.CreatedAt)))
		}
	}
}

// since says how long the run has worked; "" if its start was not told.
func (s *story) since(at time.Time) string {
	if s.started.IsZero() {
		return ""
	}
	return " after " + Took(at.Sub(s.started))
}

func (n *Narrator) ending(t event.Type, raw json.RawMessage, took string) string {
	switch t {
	case event.RunCompleted:
		return n.style.Green("✓ completed") + n.style.Dim(took)
	case event.RunCancelled:
		return n.style.Yellow("■ cancelled") + n.style.Dim(took)
	case event.RunInterrupted:
		p, _ := read[event.RunInterruptedPayload](raw)
		return n.style.Red(fmt.Sprintf("✗ interrupted%s: %s", took, Line(string(p.ReasonCode), argumentWidth)))
	default:
		p, _ := read[event.RunFailedPayload](raw)
		return n.style.Red(fmt.Sprintf("✗ failed%s: %s (%s)", took, Line(p.Error.Message, 3*argumentWidth), Line(string(p.Error.Code), argumentWidth)))
	}
}

// outcome tells the end of a run whose last event was not told.
func (n *Narrator) outcome(t client.HubWebSocketFrameType, payload json.RawMessage) {
	p, ok := read[client.AgentFailedPayload](payload) // the others have no error
	if !ok {
		return
	}
	s := n.tell(p.TaskID, p.AgentInstanceID, p.SessionID)
	if s.ended {
		return
	}
	s.ended = true
	text := n.style.Green("✓ completed")
	switch t {
	case client.HubWebSocketFrameTypeAgentCancel:
		text = n.style.Yellow("■ cancelled")
	case client.HubWebSocketFrameTypeAgentFailed:
		text = n.style.Red(fmt.Sprintf("✗ failed: %s (%s)", Line(p.Error.Message, 3*argumentWidth), Line(p.Error.Code, argumentWidth)))
	}
	n.of(s.session, n.name(s.agent)+" "+text)
}
