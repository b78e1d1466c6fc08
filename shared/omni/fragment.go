package omni

import (
	"fmt"
	"strings"
)

// contentKeys are the fields of which the deltas are pieces.
var contentKeys = map[PayloadType]string{TypeText: "text", TypeThinking: "thinking", TypeToolCall: "arguments", TypeToolCallOutput: "output"}

// whole is the type of the complete message that a fragment belongs to.
func (t PayloadType) whole() PayloadType {
	return PayloadType(strings.TrimPrefix(string(t), partialPrefix))
}

// strand is what fragments have in common that belong together (facts 1.5), with the complete message that follows them: its type, the call it is
// about, and the session it is of.
type strand struct {
	origin string
	whole  PayloadType
	call   string
}

// piece is what a fragment, or a complete message, brings.
type piece struct {
	strand
	event   StreamEvent // "" of a complete message
	content []byte      // what stands between the quotes of the JSON string
	name    string
	images  []string
	reason  StopReason
}

// pieceOf returns what a message brings; false for one that is neither a fragment nor what fragments add up to. The error is that of Body.
func pieceOf(m Message) (piece, bool, error) {
	if !m.IsModelMessage() || contentKeys[m.kind.whole()] == "" {
		return piece{}, false, nil
	}
	body, err := m.Body()
	if err != nil {
		return piece{}, false, err
	}
	p := piece{strand: strand{origin: m.session(), whole: m.kind.whole()}}
	switch b := body.(type) {
	case TextPayload:
		if b.Role != Assistant {
			return piece{}, false, nil
		}
		p.reason = b.StopReason
	case ThinkingPayload:
		p.reason = b.StopReason
	case ToolCallPayload:
		p.call, p.name, p.reason = b.ToolCallID, b.Name, b.StopReason
	case ToolCallOutputPayload:
		p.call, p.images, p.reason = b.ToolCallID, b.Images, b.StopReason
	case PartialTextPayload:
		p.event, p.reason = b.EventType, b.StopReason
	case PartialThinkingPayload:
		p.event, p.reason = b.EventType, b.StopReason
	case PartialToolCallPayload:
		p.event, p.call, p.name, p.reason = b.EventType, b.ToolCallID, b.Name, b.StopReason
	case PartialToolCallOutputPayload:
		p.event, p.call, p.images, p.reason = b.EventType, b.ToolCallID, b.Images, b.StopReason
	}
	p.content = inside(valueOf(m.Payload(), contentKeys[p.whole]))
	return p, true, nil
}

// session is the origin as one word, "" for the main session.
func (m Message) session() string {
	if len(m.origin) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", m.origin)
}

// inside returns what stands between the quotes of a JSON string. Pieces are joined in this form, since a character that is written as two escapes
// may be cut between them.
func inside(quoted []byte) []byte {
	if len(quoted) < len(`""`) {
		return nil
	}
	return quoted[1 : len(quoted)-1]
}

// fragment is what the pieces of a strand have brought so far (facts 1.5).
type fragment struct {
	strand
	content   []byte
	name      string // the newest that is not empty
	images    []string
	reason    StopReason // the newest that is not empty
	timestamp string     // of the newest piece
	via       []string   // its origin
	number    int        // which fragment of the stream it is
}

func (f *fragment) add(p piece, m Message) {
	f.content = append(f.content, p.content...)
	f.timestamp, f.via = m.timestamp, m.origin
	if p.name != "" {
		f.name = p.name
	}
	if len(p.images) > 0 {
		f.images = p.images
	}
	if p.reason != "" {
		f.reason = p.reason
	}
}

// text is what the content reads as.
func (f *fragment) text() string { return textOf(f.content) }

func textOf(inside []byte) string {
	quoted := make([]byte, 0, len(inside)+len(`""`))
	return unquote(append(append(append(quoted, '"'), inside...), '"'))
}

// payload is the complete message that the fragment adds up to.
func (f *fragment) payload() Payload {
	reason := f.reason
	if reason == Completed {
		reason = "" // it is left out where all went well
	}
	switch f.whole {
	case TypeText:
		return TextPayload{Role: Assistant, Text: f.text(), StopReason: reason}
	case TypeThinking:
		return ThinkingPayload{Thinking: f.text(), StopReason: reason}
	case TypeToolCall:
		return ToolCallPayload{Name: f.name, Arguments: f.text(), ToolCallID: f.call, StopReason: reason}
	case TypeToolCallOutput:
		return ToolCallOutputPayload{Output: f.text(), Images: f.images, ToolCallID: f.call, StopReason: reason}
	}
	return nil
}
