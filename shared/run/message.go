package run

import (
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// delta opens a message if none is open and cuts long text into pieces that fit a row.
func (n *Normaliser) delta(d Delta) []Candidate {
	var out []Candidate
	t := event.MessageDelta
	if d.Channel == Thought {
		t = event.Thinking
	}
	for rest := valid(d.Text); rest != ""; {
		piece := cut(rest, maxDelta)
		rest = rest[len(piece):]
		out = n.ensureOpen(out)
		if d.Channel == Output {
			n.write(piece)
		}
		out = append(out, Candidate{t, event.DeltaPayload{MessageID: n.open, ContentIndex: d.Block, Delta: piece}})
		if n.text.Len() >= maxMessage {
			out = append(out, n.completeMessage())
		}
	}
	return out
}

// ensureOpen appends a message.started to out if no message is open.
func (n *Normaliser) ensureOpen(out []Candidate) []Candidate {
	if n.open != "" {
		return out
	}
	n.open = n.newMessageID()
	return append(out, Candidate{event.MessageStarted, event.MessageStartedPayload{MessageID: n.open, Role: "assistant"}})
}

func (n *Normaliser) write(text string) {
	n.spoken = true
	n.text.WriteString(text)
}

func (n *Normaliser) completeMessage() Candidate {
	content := n.text.String()
	n.text.Reset()
	return n.completeWith(content)
}

// completeWith ends the open message, which is content. It makes no copy: an answer may be as long as a line.
func (n *Normaliser) completeWith(content string) Candidate {
	done := event.MessageCompletedPayload{MessageID: n.open, Content: content, ContentChecksum: event.TextChecksum(content)}
	if content != "" {
		n.final = n.open
	}
	n.open = ""
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
