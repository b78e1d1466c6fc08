package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
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

// kick means connections: those of a family, or those of a user, of one device or of all, but for one.
type kick struct {
	From   id.Connection  `json:"from"` // which hub speaks
	Family account.Family `json:"-"`    // of this hub alone: that a login has ended is told to the others by whoever ended it
	User   id.User        `json:"user,omitempty"`
	Device id.Device      `json:"device,omitempty"`
	Except id.Connection  `json:"except,omitempty"` // set when a newer connection takes the place of the others
	heard  bool           // from another hub
}

// settled is the age from which a connection is older than any that another hub may still be about to tell of.
const settled = 5 * time.Second

// spares says that a connection came after the one that another hub tells of, though the word came later still: a device whose network fails
// goes from hub to hub faster than word does. Ids grow with time; should clocks be apart, they mislead for the first moments alone.
func (k kick) spares(c *conn) bool {
	return k.heard && k.Except != "" && c.id > k.Except && time.Since(c.came) < settled
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

func (g *Gate) heardKick(_ subject.Subject, data []byte) {
	var k kick
	if err := json.Unmarshal(data, &k); err != nil {
		g.Log.Warn("kick from another hub not understood", "error", err)
		return
	}
	if k.From != g.self && k.User != "" {
		k.heard = true
		g.kick(k)
	}
}

func (g *Gate) heardEphemeral(_ subject.Subject, data []byte) {
	var e ephemeral
	if err := json.Unmarshal(data, &e); err != nil {
		g.Log.Warn("ephemeral from another hub not understood", "error", err)
		return
	}
	if e.From != g.self && passing(FrameType(e.Type)) {
		g.Tail.Ephemeral(e.Session, delivery.Body{Type: e.Type, Payload: e.Payload}, e.Except)
	}
}

// passing says whether frames of a type may come over the bus: those that stand for nothing in the record.
func passing(t FrameType) bool { return t == Typing || t == DeviceOnline || t == DeviceOffline }

// closeEverywhere acts here and tells the others.
func (g *Gate) closeEverywhere(k kick) {
	k.From = g.self
	g.kick(k)
	g.tell(subject.Kick, k)
}

// kick ends the connections that k means on this hub.
func (g *Gate) kick(k kick) {
	if k.Family != "" && g.Kicked != nil {
		g.Kicked(k.Family)
	}
	for _, c := range g.conns.find(k) {
		g.metrics.kicks.Inc()
		if k.Except != "" {
			c.end(replaced(c.id))
		} else {
			c.end(loginEnded())
		}
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
