package run

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// call is a call of one agent of the run: two of them may use the same id.
type call struct {
	agent event.SubAgent
	id    string
}

// tools remembers which calls are open, oldest first, and which have ended.
type tools struct {
	open   []call
	names  map[call]string           // of the open ones
	wants  map[call]string           // of the open ones that no request has named: the digest of what they ask permission with
	away   map[call]event.ToolTarget // of the open ones that others than the agent's side carry out
	closed map[call]struct{}
	order  []call // of closed, oldest first: what to forget next
}

func (t *tools) start(c call, name string, args json.RawMessage, target event.ToolTarget) {
	if t.names == nil {
		t.names, t.away, t.wants = map[call]string{}, map[call]event.ToolTarget{}, map[call]string{}
	}
	t.open = append(t.open, c)
	t.names[c] = name
	if digest, err := event.PromptDigest(name, args); err == nil {
		t.wants[c] = digest
	}
	if target != "" {
		t.away[c] = target
	}
}

func (t *tools) end(c call) {
	if i := slices.Index(t.open, c); i >= 0 {
		t.open = slices.Delete(t.open, i, i+1)
	}
	delete(t.names, c)
	delete(t.away, c)
	delete(t.wants, c)
	if _, known := t.closed[c]; known {
		return
	}
	if t.closed == nil {
		t.closed = map[call]struct{}{}
	}
	t.closed[c] = struct{}{}
	t.order = append(t.order, c)
	if len(t.order) > maxClosed {
		delete(t.closed, t.order[0])
		t.order = t.order[1:]
	}
}

func (t *tools) closeAll() {
	for len(t.open) > 0 {
		t.end(t.open[0])
	}
}

func (t *tools) isOpen(c call) bool {
	_, ok := t.names[c]
	return ok
}

func (t *tools) isClosed(c call) bool {
	_, ok := t.closed[c]
	return ok
}

// of returns the open calls of an agent, oldest first.
func (t *tools) of(agent event.SubAgent) []call {
	return slices.DeleteFunc(slices.Clone(t.open), func(c call) bool { return c.agent != agent })
}

// inside returns the open calls, those of sub-agents before those of the run's own agent, which may wait for them.
func (t *tools) inside() []call {
	all := slices.Clone(t.open)
	slices.SortStableFunc(all, func(a, b call) int { return depth(b) - depth(a) })
	return all
}

func depth(c call) int {
	if c.agent == "" {
		return 0
	}
	return 1
}

// oldest returns the call of the agent to a target that has been open longest under name; of any name if name is "".
func (t *tools) oldest(agent event.SubAgent, name string, target event.ToolTarget) (found call, ok bool) {
	for _, c := range t.open {
		if c.agent == agent && t.away[c] == target && (name == "" || t.names[c] == name) {
			return c, true
		}
	}
	return call{}, false
}

// wanting returns the oldest open call of the agent for which the digest of a request is, and of which no other has been.
func (t *tools) wanting(agent event.SubAgent, digest string) (found call, ok bool) {
	for _, c := range t.open {
		if c.agent == agent && t.wants[c] == digest {
			return c, true
		}
	}
	return call{}, false
}

func (n *Normaliser) toolCall(c ToolCall) []Candidate {
	called := call{ScopeID(c.Agent), foreignID(c.ID)}
	if called.id == "" {
		called.id = n.newToolCallID()
	}
	if n.tools.isOpen(called) || n.tools.isClosed(called) {
		return nil
	}
	return n.startTool(nil, called, c)
}

func (n *Normaliser) startTool(out []Candidate, c call, said ToolCall) []Candidate {
	if len(n.tools.open) == maxOpen {
		oldest := n.tools.open[0]
		n.tools.end(oldest)
		out = append(out, unfinished(oldest, "Too many tools are running at once; this one was given up."))
	}
	name := clean(said.Name, maxName)
	args := value(said.Args, `{}`)
	n.tools.start(c, name, args, said.Target)
	return append(out, Candidate{event.ToolStarted, event.ToolStartedPayload{
		ToolCallID: c.id, ToolName: name, Arguments: args, Intent: clean(said.Intent, maxText), AgentID: c.agent,
		Target: said.Target, Fidelity: said.Fidelity,
	}})
}

// toolResult starts the call first if nothing announced it, so that every result has a start (S2). Only whoever carries a call out ends it.
func (n *Normaliser) toolResult(r ToolResult) []Candidate {
	called := call{ScopeID(r.Agent), foreignID(r.ID)}
	if called.id == "" {
		called = n.resultOf(called.agent, r)
	}
	if n.tools.isClosed(called) || n.tools.isOpen(called) && n.tools.away[called] != r.Target {
		return nil
	}
	var out []Candidate
	if !n.tools.isOpen(called) {
		out = n.startTool(out, called, ToolCall{Name: r.Name, Target: r.Target})
	}
	n.tools.end(called)
	return append(out, finished(called, r))
}

// resultOf finds the call of the agent that a result without an id belongs to.
func (n *Normaliser) resultOf(agent event.SubAgent, r ToolResult) call {
	if c, ok := n.tools.oldest(agent, clean(r.Name, maxName), r.Target); ok {
		return c
	}
	return call{agent, n.newToolCallID()}
}

func finished(c call, r ToolResult) Candidate {
	if r.Error != nil {
		return Candidate{event.ToolFailed, event.ToolFailedPayload{ToolCallID: c.id, Error: bounded(*r.Error), AgentID: c.agent}}
	}
	result := value(r.Result, `null`)
	sum, err := event.Checksum(result)
	if err != nil {
		// value returned JSON, so this is unreachable; the sum of the bytes is still a true statement about them.
		sum = event.TextChecksum(string(result))
	}
	return Candidate{event.ToolCompleted, event.ToolCompletedPayload{
		ToolCallID: c.id, Result: result, ResultChecksum: sum, Metadata: metadata(r.Metadata), AgentID: c.agent, Images: imagesOf(r.Images),
	}}
}

func unfinished(c call, sentence string) Candidate {
	return Candidate{event.ToolFailed, event.ToolFailedPayload{
		ToolCallID: c.id, Error: event.ErrorObj{Code: fault.RunEnded, Message: sentence}, AgentID: c.agent,
	}}
}

// foreignID returns the model's id, or a digest of one that is too long to be carried.
func foreignID(s string) string {
	if s = valid(s); len(s) <= maxName {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return "call_" + hex.EncodeToString(sum[:16])
}
