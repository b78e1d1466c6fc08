package conformance

import (
	"errors"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/events"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// eventsEar listens to a turn of the events runtime, with the edge's own adapter beside it for what a turn comes to.
type eventsEar struct {
	ledger   *ledger
	inner    runtime.Dialogue
	asks     requests
	named    string // the first session id
	results  int
	over     agentline.Type // done or error, once it came
	saidEnd  bool           // done, result, error, or a line of the bridge protocol but for a request: its silence is a success
	calls    []toolCall
	offered  []wire.ClientTool // by a client
	used     map[toolCall]bool // ids of calls, without names
	requests map[string]bool   // of the model, by their ids; true once they have ended
	shown    shown
	subs     map[event.SubAgent]bool // those that were made known; true once they have ended
	steer    id.Steer                // that was said to the agent
	taken    bool
	compacts map[event.SubAgent]event.CompactionBeginPayload // compactions that have not ended, by who makes them
}

type toolCall struct {
	agent    event.SubAgent
	id, name string
}

func newEventsEar(l *ledger, s script, files runtime.Artifacts) (*eventsEar, error) {
	// What is asked does not matter to what is heard.
	inner, err := events.Adapter{}.Open(runtime.Turn{Message: "hello", Streaming: true, Permission: s.asks, Artifacts: files, ClientTools: s.tools})
	if err != nil {
		return nil, err
	}
	return &eventsEar{
		ledger: l, inner: inner, asks: newRequests(l, s.asks), offered: s.tools, used: map[toolCall]bool{}, requests: map[string]bool{}, subs: map[event.SubAgent]bool{},
		steer: s.steer, compacts: map[event.SubAgent]event.CompactionBeginPayload{}, shown: newShown(),
	}, nil
}

func (e *eventsEar) session() string { return e.named }

func (e *eventsEar) hear(text []byte) heard {
	f := fieldsOf(text)
	line, err := agentline.Parse(text)
	var ignored *agentline.IgnoredError
	if errors.As(err, &ignored) {
		e.ignored(ignored.Reason, f, text)
		return heard{}
	}
	e.ledger.keep(eventVocabulary, eventCase, eventFields)
	var called *request
	if line.Type == agentline.ToolCall && line.Target == event.TargetClient && e.over == "" {
		called = e.call(line)
	}
	e.sequence(line)
	e.shown.hear(e.ledger, line)
	e.scope(line)
	e.content(line, f)
	reaction := e.inner.Line(text)
	if line.Type == agentline.Artifact {
		e.ledger.check(artifactThere, refusal(reaction.Events) == "", "%s", refusal(reaction.Events))
	}
	h := heard{final: line.Type == agentline.Done || line.Type == agentline.Error || line.Type == agentline.Result, request: called}
	if called == nil {
		h.request = requestOf(reaction)
	}
	return h
}

// requestOf is what the edge would put before people, or turns down by itself.
func requestOf(r runtime.Reaction) *request {
	switch {
	case len(r.Asks) > 0:
		return &request{Ask: r.Asks[0]}
	case len(r.Reply) > 0:
		return &request{refusal: r.Reply}
	}
	return nil
}

// refusal is why a file could not be kept; "" if it could.
func refusal(said []run.AgentEvent) string {
	for _, e := range said {
		if result, ok := e.(run.ToolResult); ok && result.Error != nil {
			return result.Error.Message
		}
	}
	return ""
}

// sequence checks a line against those before it.
func (e *eventsEar) sequence(line agentline.Line) {
	l := e.ledger
	if e.over != "" {
		l.breach(endLast, "a %s after %s", line.Type, e.over)
	}
	if e.over == agentline.Error {
		l.breach(errorLast, "a %s after an error", line.Type)
	}
	if line.Bridge != nil && line.Type != agentline.Permission {
		e.saidEnd = true
	}
	switch line.Type {
	case agentline.Result:
		e.results++
		l.check(resultOnce, e.results < 2, "a second result")
	case agentline.Done, agentline.Error:
		e.over, e.saidEnd = line.Type, true
		l.keep(endLast)
		if line.Type == agentline.Error {
			l.keep(errorLast)
		}
	case agentline.ToolCall:
		e.used[toolCall{run.ScopeID(line.AgentID), line.ToolCallID, ""}] = true
		if line.Target != event.TargetClient { // whose results are not the agent's to say
			e.calls = append(e.calls, toolCall{run.ScopeID(line.AgentID), line.ToolCallID, line.ToolName})
		}
		l.check(toolNames, line.ToolName != "", "tool_name is missing")
	case agentline.ToolResult:
		e.used[toolCall{run.ScopeID(line.AgentID), line.ToolCallID, ""}] = true
		l.check(toolPairs, e.close(line), "a result of %.80q without a call", line.ToolCallID+line.ToolName)
	case agentline.Permission:
		e.asks.permission(line.Bridge.Request)
	case agentline.Prompt:
		e.asks.prompt(line)
	}
}

// close takes the call that a result belongs to off the list; false if there is none.
func (e *eventsEar) close(result agentline.Line) bool {
	for i, call := range e.calls {
		if call.agent == run.ScopeID(result.AgentID) && call.id == result.ToolCallID && (call.id != "" || call.name == result.ToolName) {
			e.calls = append(e.calls[:i], e.calls[i+1:]...)
			return true
		}
	}
	return false
}

func (e *eventsEar) end(exit process.Exit) ended {
	e.asks.end()
	if exit.Code == 0 {
		e.ledger.check(endSaid, e.saidEnd, "the process ended with exit code 0 and said nothing of it")
	}
	for _, call := range e.calls {
		e.ledger.breach(toolPairs, "the call of %.80q has no result", call.name)
	}
	for id, over := range e.requests {
		e.ledger.check(requestPairs, over, "the request %.80q has no end", id)
	}
	for _, begun := range e.compacts {
		e.ledger.breach(compactionPairs, "the compaction for %s has no end", begun.Reason)
	}
	said, _ := e.inner.End(runtime.End{Code: exit.Code, Gone: exit.Gone, Stderr: exit.Stderr})
	for _, event := range said {
		if failure, ok := event.(run.Failure); ok {
			own := failure.Code != fault.AgentExited
			return ended{errored: own, why: failure.Message, taken: e.taken}
		}
	}
	return ended{ok: true, taken: e.taken}
}
