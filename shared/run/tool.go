package run

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// tools remembers which calls are open, oldest first, and which have ended.
type tools struct {
	open   []string
	names  map[string]string // of the open ones
	closed map[string]struct{}
	order  []string // of closed, oldest first: what to forget next
}

func (t *tools) start(callID, name string) {
	if t.names == nil {
		t.names = map[string]string{}
	}
	t.open = append(t.open, callID)
	t.names[callID] = name
}

func (t *tools) end(callID string) {
	if i := slices.Index(t.open, callID); i >= 0 {
		t.open = slices.Delete(t.open, i, i+1)
	}
	delete(t.names, callID)
	if _, known := t.closed[callID]; known {
		return
	}
	if t.closed == nil {
		t.closed = map[string]struct{}{}
	}
	t.closed[callID] = struct{}{}
	t.order = append(t.order, callID)
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

func (t *tools) isOpen(callID string) bool {
	_, ok := t.names[callID]
	return ok
}

func (t *tools) isClosed(callID string) bool {
	_, ok := t.closed[callID]
	return ok
}

// oldest returns the call that has been open longest under name; of any name if name is "".
func (t *tools) oldest(name string) (callID string, ok bool) {
	for _, callID := range t.open {
		if name == "" || t.names[callID] == name {
			return callID, true
		}
	}
	return "", false
}

func (n *Normaliser) toolCall(c ToolCall) []Candidate {
	callID := foreignID(c.ID)
	if callID == "" {
		callID = n.newToolCallID()
	}
	if n.tools.isOpen(callID) || n.tools.isClosed(callID) {
		return nil
	}
	return n.startTool(nil, callID, c.Name, c.Args)
}

func (n *Normaliser) startTool(out []Candidate, callID, name string, args json.RawMessage) []Candidate {
	if len(n.tools.open) == maxOpen {
		oldest := n.tools.open[0]
		n.tools.end(oldest)
		out = append(out, unfinished(oldest, "Too many tools are running at once; this one was given up."))
	}
	name = clean(name, maxName)
	n.tools.start(callID, name)
	started := event.ToolStartedPayload{ToolCallID: callID, ToolName: name, Arguments: value(args, `{}`)}
	return append(out, Candidate{event.ToolStarted, started})
}

// toolResult starts the call first if nothing announced it, so that every result has a start (S2).
func (n *Normaliser) toolResult(r ToolResult) []Candidate {
	callID := foreignID(r.ID)
	if callID == "" {
		callID = n.resultOf(r.Name)
	}
	if n.tools.isClosed(callID) {
		return nil
	}
	var out []Candidate
	if !n.tools.isOpen(callID) {
		out = n.startTool(out, callID, r.Name, nil)
	}
	n.tools.end(callID)
	return append(out, finished(callID, r))
}

// resultOf finds the call that a result without an id belongs to.
func (n *Normaliser) resultOf(name string) string {
	if callID, ok := n.tools.oldest(clean(name, maxName)); ok {
		return callID
	}
	return n.newToolCallID()
}

func finished(callID string, r ToolResult) Candidate {
	if r.Error != nil {
		return Candidate{event.ToolFailed, event.ToolFailedPayload{ToolCallID: callID, Error: bounded(*r.Error)}}
	}
	result := value(r.Result, `null`)
	sum, err := event.Checksum(result)
	if err != nil {
		// value returned JSON, so this is unreachable; the sum of the bytes is still a true statement about them.
		sum = event.TextChecksum(string(result))
	}
	return Candidate{event.ToolCompleted, event.ToolCompletedPayload{ToolCallID: callID, Result: result, ResultChecksum: sum}}
}

func unfinished(callID, sentence string) Candidate {
	return Candidate{event.ToolFailed, event.ToolFailedPayload{
		ToolCallID: callID, Error: event.ErrorObj{Code: fault.RunEnded, Message: sentence},
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
