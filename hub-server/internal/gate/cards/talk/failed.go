package talk

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
)

// sessionNotFound is the code of an error that ends what can be said of a conversation.
const sessionNotFound = "session_not_found"

// Failed tells the client that a frame has led to nothing, and why. What is no fault is ours, and is told without its reasons.
func (t *Talk) Failed(now time.Time, h Heard, err error) {
	t.then = Heard{}
	t.fail(now, h, card.Refusal(err, t.lang))
}

func noSession(message string) card.ErrorInfo {
	return card.ErrorInfo{Type: card.InvalidInput, Code: sessionNotFound, Message: message}
}

// fail says an error, and which frame it is about.
func (t *Talk) fail(now time.Time, h Heard, info card.ErrorInfo) {
	about := map[string]any{}
	if h.Type != "" {
		about["type"] = h.Type
	}
	if h.EventID != "" {
		about["event_id"] = h.EventID
	}
	switch f := h.Frame.(type) {
	case card.PromptResponse:
		about["request_id"] = shorten(f.RequestID)
	case card.ToolResult:
		about["tool_use_id"] = shorten(f.ToolUseID)
	}
	if len(about) > 0 {
		info.Details = about
	}
	t.say(t.at.Fail(now, info.Complete(t.lang)))
}
