package run

import (
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// delta opens a message of the agent if none is open and cuts long text into pieces that fit a row. Reasoning that stands by itself is in no
// message: it opens none, and one that is open goes on behind it.
func (n *Normaliser) delta(d Delta) []Candidate {
	if d.Channel == ToolOutput {
		return n.toolOutput(d)
	}
	var out []Candidate
	s := n.scope(ScopeID(d.Agent))
	for rest := valid(d.Text); rest != ""; {
		piece := cut(rest, maxDelta)
		rest = rest[len(piece):]
		if d.Apart && d.Channel == Thought {
			out = append(out, n.piece(&scope{agent: s.agent}, d, piece))
			continue
		}
		out = n.ensureOpen(out, s)
		if d.Channel == Output {
			n.write(s, piece)
		}
		out = append(out, n.piece(s, d, piece))
		if s.text.Len() >= maxMessage {
			out = append(out, n.completeMessage(s))
		}
		for other := n.crowded(); other != nil; other = n.crowded() {
			out = append(out, n.completeMessage(other))
		}
	}
	switch {
	case d.Last && d.Channel == Thought:
		out = n.lastThought(out, s, d)
	case d.Last && s.open != "":
		out = append(out, n.completeWith(s, s.text.String(), ending{fidelity: d.Fidelity}))
	}
	return out
}

// lastThought ends a block of reasoning: with a piece of its own, which may have nothing but the fidelity.
func (n *Normaliser) lastThought(out []Candidate, s *scope, d Delta) []Candidate {
	if d.Apart {
		s = &scope{agent: s.agent}
	} else {
		out = n.ensureOpen(out, s)
	}
	last := event.DeltaPayload{MessageID: s.open, ContentIndex: d.Block, AgentID: s.agent, Last: true, Fidelity: d.Fidelity}
	return append(out, Candidate{event.Thinking, last})
}

// toolOutput is for calls that are open: what others put out is in their results.
func (n *Normaliser) toolOutput(d Delta) (out []Candidate) {
	c := call{ScopeID(d.Agent), foreignID(d.Call)}
	if !n.tools.isOpen(c) {
		return nil
	}
	for rest := valid(d.Text); rest != ""; {
		piece := cut(rest, maxDelta)
		rest = rest[len(piece):]
		out = append(out, Candidate{event.ToolOutput, event.ToolOutputPayload{ToolCallID: c.id, Delta: piece, AgentID: c.agent}})
	}
	return out
}

// piece is the event of a piece of d.
func (n *Normaliser) piece(s *scope, d Delta, text string) Candidate {
	t := event.MessageDelta
	switch d.Channel {
	case ToolInput:
		return Candidate{event.ToolInput, event.ToolInputPayload{
			MessageID: s.open, ToolCallID: foreignID(d.Call), ToolName: clean(d.Tool, maxName), ContentIndex: d.Block, PartialJSON: text,
			AgentID: s.agent,
		}}
	case Thought:
		t = event.Thinking
	}
	return Candidate{t, event.DeltaPayload{MessageID: s.open, ContentIndex: d.Block, Delta: text, AgentID: s.agent}}
}

// ensureOpen appends a message.started to out if no message of s is open.
func (n *Normaliser) ensureOpen(out []Candidate, s *scope) []Candidate {
	if s.open != "" {
		return out
	}
	n.begin(s, n.newMessageID())
	return append(out, Candidate{event.MessageStarted, event.MessageStartedPayload{MessageID: s.open, Role: "assistant", AgentID: s.agent}})
}

func (n *Normaliser) write(s *scope, text string) {
	n.spoken = n.spoken || s.agent == ""
	s.text.WriteString(text)
}

// ending is what is said of a message beside its text.
type ending struct {
	fidelity event.Fidelity
	cut      event.RequestStatus // why it was cut off, "" for one that was not
}

func (n *Normaliser) completeMessage(s *scope) Candidate { return n.cutOff(s, "") }

func (n *Normaliser) cutOff(s *scope, why event.RequestStatus) Candidate {
	return n.completeWith(s, s.text.String(), ending{cut: why})
}

// completeWith ends the open message of s, which is content. It makes no copy: an answer may be as long as a line.
func (n *Normaliser) completeWith(s *scope, content string, e ending) Candidate {
	done := event.MessageCompletedPayload{
		MessageID: s.open, Content: content, ContentChecksum: event.TextChecksum(content), AgentID: s.agent, StopReason: e.cut, Fidelity: e.fidelity,
	}
	if content != "" && s.agent == "" {
		n.final = s.open
	}
	n.finish(s)
	return Candidate{event.MessageDone, done}
}

// valid makes text equal to what a reader of its JSON form gets.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// clean is valid text of at most limit bytes.
func clean(s string, limit int) string { return cut(valid(s), limit) }

// cut returns the longest prefix of s that has at most limit bytes and ends at a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > limit-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
