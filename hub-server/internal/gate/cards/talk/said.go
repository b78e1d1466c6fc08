package talk

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// Most of what waits to be written: who hears more of a client has it wait.
const (
	mostSaid      = 128
	mostSaidBytes = 256 << 10
)

// said is what waits to be written, before anything of the trace.
type said struct {
	frames [][]byte
	bytes  int
}

func (s *said) add(frame []byte) {
	s.frames = append(s.frames, frame)
	s.bytes += len(frame)
}

func (s *said) drop() { s.frames, s.bytes = nil, 0 }

// Full says that so much waits to be written that nothing more should be heard.
func (t *Talk) Full() bool { return len(t.said.frames) >= mostSaid || t.said.bytes >= mostSaidBytes }

// pong is the answer to ping: no envelope, no number (S0 §2.3).
var pong = []byte(`{"type":"pong"}` + "\n")

// tell says a session event.
func (t *Talk) tell(now time.Time, kind card.SessionKind, inner any) {
	t.say(t.at.Tell(now, kind, inner))
}

func (t *Talk) say(e card.Event) {
	line, err := e.Encode()
	if err != nil {
		return // nothing in it is raw
	}
	t.said.add(line)
}

// Replied says again what became of a question: the client has answered it twice with the same (R8).
func (t *Talk) Replied(now time.Time, reply card.ReplyPayload) {
	payload, err := event.Encode(reply)
	if err != nil {
		return // three texts
	}
	t.say(card.Event{
		Type: card.PromptReply,
		Envelope: card.Envelope{
			SessionID: t.at.Session, TraceID: t.at.Trace, Timestamp: now, AgentID: card.MainAgent, AgentRole: card.SystemRole, Severity: card.Info,
		},
		Payload: payload,
	})
}
