package cards

import (
	"bytes"
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

const targetServer = "server" // a tool that runs where the agent does (S0 §10.3)

// Tools that let others work and are silent meanwhile: they are never late themselves (facts 0.5).
const (
	toolDispatch  = "dispatch"
	toolFreelance = "freelance"
)

// handsOn says whether a tool has others do the work.
func handsOn(tool string) bool { return tool == toolDispatch || tool == toolFreelance }

func (s *State) toolStarted(f Fact) {
	p, ok := read[event.ToolStartedPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	sc := s.in(t, p.AgentID)
	if n := t.find(card.Tool, p.ToolCallID); n != nil && n.open {
		return
	}
	if p.Target == event.TargetClient {
		t.calls(p)
		return
	}
	payload := card.ToolPayload{Name: p.ToolName, Target: targetServer, Intent: p.Intent, Input: p.Arguments, Phase: card.Executing}
	if p.ArgumentsBlob != nil {
		payload.Input, payload.Metadata = nil, blob("input_blob", p.ArgumentsBlob)
	}
	s.openTool(t, sc, p.ToolCallID, payload)
}

// openTool adds a call below the newest message of its agent, else below its card (facts 0.11).
func (s *State) openTool(t *thread, sc *scope, ref string, payload card.ToolPayload) *node {
	s.settle(sc)
	n := s.open(sc, t, card.Tool, ref, sc.tip(), payload, &card.Hint{Summary: summary(payload.Intent)})
	n.title = payload.Name
	if handsOn(payload.Name) {
		n.timeout = 0
	}
	return n
}

// tool returns the card of a call, which it opens if nothing has announced it.
func (s *State) tool(f Fact, name event.SubAgent, ref string) *node {
	t := s.of(f.Run)
	if n := t.find(card.Tool, ref); n != nil {
		return n
	}
	payload := card.ToolPayload{Target: targetServer, Phase: card.Executing}
	if c, ok := t.called(ref); ok { // no client was asked
		payload.Name, payload.Target, payload.Intent = c.name, targetClient, c.intent
	}
	return s.openTool(t, s.in(t, name), ref, payload)
}

func (s *State) toolCompleted(f Fact) {
	p, ok := read[event.ToolCompletedPayload](f)
	if !ok {
		return
	}
	n := s.tool(f, p.AgentID, p.ToolCallID)
	n.thread.returned(n)
	inner := card.ToolPayload{Output: text(p.Result), Artifacts: n.artifacts}
	inner.Metadata = lift(p.Metadata, &inner)
	if p.ResultBlob != nil {
		inner.Metadata = blob("output_blob", p.ResultBlob)
	}
	end := card.End{Status: card.OK, Inner: inner}
	if inner.RenderHint != "" {
		end.Hint = &card.Hint{Title: n.title, RenderHint: inner.RenderHint}
	}
	s.close(n, end)
}

// lift moves what S0 has at the top of a tool's payload out of its metadata (facts 0.2) and returns the rest, nil for nothing.
func lift(metadata json.RawMessage, p *card.ToolPayload) map[string]any {
	var rest map[string]any
	if len(metadata) == 0 || json.Unmarshal(metadata, &rest) != nil {
		return nil
	}
	for key, to := range map[string]*string{"render_hint": &p.RenderHint, "language": &p.Language, "file_path": &p.FilePath} {
		if word, ok := rest[key].(string); ok {
			*to = word
			delete(rest, key)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return rest
}

func (s *State) toolFailed(f Fact) {
	p, ok := read[event.ToolFailedPayload](f)
	if !ok {
		return
	}
	n := s.tool(f, p.AgentID, p.ToolCallID)
	n.thread.returned(n)
	if p.Error.Code == fault.RunEnded && n.thread.cancelling { // it was stopped with its run
		s.close(n, card.End{Status: card.Cancelled})
		return
	}
	if p.Error.Code == fault.Cancelled { // whoever was to carry it out has called it off
		s.close(n, card.End{Status: card.Cancelled})
		return
	}
	s.close(n, card.End{Status: card.Failed, Error: s.failure(p.Error)})
}

// text is a JSON value as a person reads it: a string as it is, else compact JSON; nothing for null.
func text(value json.RawMessage) string {
	if len(value) == 0 || string(value) == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	var short bytes.Buffer
	if json.Compact(&short, value) != nil {
		return string(value)
	}
	return short.String()
}

// blob says where a value is that is too large for a card.
func blob(key string, ref *event.BlobRef) map[string]any {
	return map[string]any{key: ref}
}
