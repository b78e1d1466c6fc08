package gate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

// Bus carries what hubs tell one another. A lost message costs an ephemeral frame, or two sockets of one device for a while.
type Bus interface {
	Publish(s subject.Subject, data []byte) error
	Listen(ctx context.Context, p subject.Pattern, h func(s subject.Subject, data []byte)) (stop func(), err error)
}

// ephemeral is a frame for the people in a conversation.
type ephemeral struct {
	From    id.Connection   `json:"from"`
	Session id.Session      `json:"session"`
	Except  id.User         `json:"except,omitempty"`
	Type    event.FrameType `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// listen hears the other hubs until stop is called.
func (g *Gate) listen(ctx context.Context) (stop func(), err error) {
	stopKicks, err := g.Bus.Listen(ctx, subject.Pattern(subject.Kick), g.heardKick)
	if err != nil {
		return nil, fmt.Errorf("listen for kicks: %w", err)
	}
	stopEphemerals, err := g.Bus.Listen(ctx, subject.Pattern(subject.Ephemeral), g.heardEphemeral)
	if err != nil {
		stopKicks()
		return nil, fmt.Errorf("listen for ephemerals: %w", err)
	}
	return func() {
		stopEphemerals()
		stopKicks()
	}, nil
}

func (g *Gate) heardEphemeral(_ subject.Subject, data []byte) {
	var e ephemeral
	if err := json.Unmarshal(data, &e); err != nil {
		g.Log.Warn("ephemeral from another hub not understood", "error", err)
		return
	}
	if e.From != g.self && FrameType(e.Type) == Typing {
		g.Tail.Ephemeral(e.Session, delivery.Body{Type: e.Type, Payload: e.Payload}, e.Except)
	}
}

// Ephemeral sends a frame that is stored nowhere to the people in a conversation, on every hub, but for one user. It does not block.
func (g *Gate) Ephemeral(session id.Session, t FrameType, payload json.RawMessage, except id.User) {
	g.Tail.Ephemeral(session, delivery.Body{Type: event.FrameType(t), Payload: payload}, except)
	g.tell(subject.Ephemeral, ephemeral{
		From: g.self, Session: session, Except: except, Type: event.FrameType(t), Payload: payload,
	})
}

// typing tells the others in the conversation who is writing (S3).
func (g *Gate) typing(session id.Session, user id.User) {
	payload, err := json.Marshal(struct {
		Session id.Session `json:"session_id"`
		User    id.User    `json:"user_id"`
	}{session, user})
	if err != nil {
		g.Log.Error("typing not encoded", "error", err)
		return
	}
	g.Ephemeral(session, Typing, payload, user)
}

func (g *Gate) tell(s subject.Subject, message any) {
	data, err := json.Marshal(message)
	if err == nil {
		err = g.Bus.Publish(s, data)
	}
	if err != nil {
		g.Log.Warn("other hubs not told", "subject", s, "error", err)
	}
}
