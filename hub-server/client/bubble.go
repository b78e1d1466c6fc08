package client

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// Bubble is a message as people are shown it. It has these fields and no others: what else a message carries beside its text, such as marks
// of debugging, of a mock or of a mode, is metadata and never comes into a bubble (S3).
type Bubble struct {
	MessageID   MessageID
	SessionID   SessionID
	SeqID       SeqID // orders the bubbles of a conversation
	SenderType  SenderType
	SenderID    MemberID
	Text        string // "" of content without text
	Attachments []Attachment
	Recalled    bool // it was taken back: text and attachments are not given any more
	CreatedAt   time.Time
	EditedAt    time.Time     // zero if it never was
	Forwarded   MessageOrigin // whose words it repeats; zero for its sender's own
}

// BubbleOf returns how a message is shown.
func BubbleOf(m Message) Bubble {
	return Bubble{
		MessageID: m.ID, SessionID: m.SessionID, SeqID: m.SeqID, SenderType: m.SenderType, SenderID: m.SenderID,
		Text: textField(m.Content, "text"), Attachments: m.Attachments, CreatedAt: m.CreatedAt,
		EditedAt: m.EditedAt, Recalled: m.Recalled, Forwarded: m.Forwarded,
	}
}

// Bubbles returns the messages of a conversation as they are shown, in order.
func (r *Reducer) Bubbles(session SessionID) []Bubble {
	var all []Bubble
	for _, m := range recordsOf[Message](r, "message") {
		if m.SessionID != session {
			continue
		}
		all = append(all, BubbleOf(m))
	}
	slices.SortStableFunc(all, func(a, b Bubble) int { return cmp.Compare(a.SeqID, b.SeqID) })
	return all
}

// Words returns what an agent.stream frame adds to what its agent is saying, and the run that says it; "" for any other frame and for every
// other event: reasoning, tools, raw output and metadata of the run are not words.
func Words(f HubWebSocketFrame) (run RunID, text string) {
	var p AgentStreamPayload
	if f.Type != HubWebSocketFrameTypeAgentStream || json.Unmarshal(f.Payload, &p) != nil {
		return "", ""
	}
	if event.Stored(event.WireType(p.EventType), json.RawMessage(p.Payload)) != event.MessageDelta {
		return "", ""
	}
	return p.TaskID, textField(json.RawMessage(p.Payload), "delta")
}

// textField is the named field of an object if it is a string, else "".
func textField(object json.RawMessage, name string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return ""
	}
	text, _ := event.Text(fields[name])
	return text
}
