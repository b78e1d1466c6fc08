package talk

import (
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Hear takes a frame, or why it could not be read, and returns what has to be done. Whatever is wrong with it, the client is told so, and the
// connection goes on.
func (t *Talk) Hear(now time.Time, h Heard, unreadable error) Act {
	if t.phase == over {
		return nil
	}
	if unreadable != nil {
		t.Failed(now, h, unreadable)
		return nil
	}
	return t.hear(now, h)
}

func (t *Talk) hear(now time.Time, h Heard) Act {
	switch f := h.Frame.(type) {
	case card.Ping:
		t.said.add(pong)
		return nil
	case card.Pong:
		return nil
	case card.SessionCreate:
		return t.create(now, h, f)
	case card.UserMessage:
		return t.message(now, h, f)
	case card.SessionResume:
		return t.resume(now, f)
	case card.UserInject:
		return t.refuse(now, h, "user.inject is reserved: send a user.message, it is taken while a turn is running, too.")
	}
	if t.phase == waiting {
		return t.refuse(now, h, "This needs a conversation: send session.create first.")
	}
	switch f := h.Frame.(type) {
	case card.ToolResult:
		return Return{Session: t.at.Session, Result: f}
	case card.PromptResponse:
		return Answer{Session: t.at.Session, Response: f}
	case card.SessionInterrupt:
		if f.TraceID != "" && f.TraceID != string(t.at.Trace) {
			return t.refuse(now, h, "trace_id is not that of this conversation.")
		}
		return Interrupt{Session: t.at.Session}
	}
	return t.refuse(now, h, "A client sends no frame of this type.")
}

// create is the second way to begin (R5). A connection has one conversation; tools of that may be declared at any time.
func (t *Talk) create(now time.Time, h Heard, f card.SessionCreate) Act {
	switch {
	case t.phase != open:
		return Create{Wanted: f.SessionID, Agent: f.AgentID, Key: h.EventID, Tools: f.Tools}
	case f.SessionID == string(t.at.Session) && f.Tools != nil:
		return Offer{Session: t.at.Session, Tools: f.Tools}
	}
	return t.refuse(now, h, "This connection has its conversation. Open another connection for another one.")
}

// message is the third: the first word opens a conversation, and is said there. One that can be said nowhere opens none.
func (t *Talk) message(now time.Time, h Heard, f card.UserMessage) Act {
	if wrong := untaken(f.Content); wrong != "" {
		return t.refuse(now, h, wrong)
	}
	if t.phase == open {
		return Post{Session: t.at.Session, Message: f}
	}
	t.then = h
	return Create{Agent: f.AgentID, Key: h.EventID, First: &f}
}

// untaken says which file of a message is only pointed at: nobody's path is opened and nobody's address is fetched here. "" for none.
func untaken(content card.Content) string {
	for i, b := range content {
		if from := b.Source.Type; b.Type != card.TextBlock && (from == card.PathSource || from == card.URLSource) {
			return fmt.Sprintf(
				"Block %d: a source of type %s is not taken: upload the file first (POST /client/attachments) and name it, or send its bytes in base64.", i+1, from)
		}
	}
	return ""
}

func shorten(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// refuse tells the client what is wrong with a frame.
func (t *Talk) refuse(now time.Time, h Heard, why string) Act {
	t.Failed(now, h, fault.New(fault.InvalidRequest, "%s", why))
	return nil
}
