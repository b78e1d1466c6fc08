package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// ErrNoStream says that this client follows no stream at the moment.
var ErrNoStream = errors.New("no stream of this client is connected")

// typingWithin bounds one write. The end of a write breaks a connection, so it is no caller's to end.
const typingWithin = 5 * time.Second

// typingEvery is how often at most it is told that this user types in a conversation; typingFor is for how long somebody counts as typing who was
// heard to: nobody says that it is over.
const (
	typingEvery = 3 * time.Second
	typingFor   = 6 * time.Second
)

// Typing tells the others of a conversation that this user is typing (S3, the only frame of a client), over the connection of the stream or feed
// that this client follows; ErrNoStream if there is none. Call it at each key: it is sent every three seconds at most, and forgotten when it is not
// heard. Feed.Typists is the other end. Safe for concurrent use.
func (c *Client) Typing(session SessionID) error {
	socket := c.live.Load()
	if socket == nil {
		return ErrNoStream
	}
	if !c.typed.due(session, time.Now()) {
		return nil
	}
	frame, err := json.Marshal(struct {
		Type    HubWebSocketFrameType `json:"type"`
		Payload any                   `json:"payload"`
	}{HubWebSocketFrameTypeTyping, struct {
		SessionID SessionID `json:"session_id"`
	}{session}})
	if err != nil {
		return fmt.Errorf("encode typing: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), typingWithin)
	defer cancel()
	if err := socket.Write(ctx, websocket.MessageText, frame); err != nil {
		return fmt.Errorf("tell of typing: %w", err)
	}
	return nil
}

// typed is when it was told last that this user types, by conversation.
type typed struct {
	mu   sync.Mutex
	told map[SessionID]time.Time
}

// due says whether it is time to tell it again, and notes that it is told.
func (t *typed) due(session SessionID, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.told, func(_ SessionID, at time.Time) bool { return now.Sub(at) >= typingEvery })
	if _, lately := t.told[session]; lately {
		return false
	}
	if t.told == nil {
		t.told = map[SessionID]time.Time{}
	}
	t.told[session] = now
	return true
}

// typist is somebody who was heard to type.
type typist struct {
	session SessionID
	user    UserID
	at      time.Time
}

// typists are in the order in which they were heard.
type typists []typist

// hear notes that somebody types.
func (t *typists) hear(session SessionID, user UserID, now time.Time) {
	t.forget(session, user, now)
	*t = append(*t, typist{session, user, now})
}

// forget drops somebody who has said what was typed, and everybody of whom nothing was heard for long.
func (t *typists) forget(session SessionID, user UserID, now time.Time) {
	*t = slices.DeleteFunc(*t, func(h typist) bool {
		return now.Sub(h.at) >= typingFor || h.session == session && h.user == user
	})
}

// Typists are the users who type in a conversation at this moment. Somebody who was heard to counts for six seconds, or until the message comes.
func (f *Feed) Typists(session SessionID) []UserID {
	var now []UserID
	for _, h := range f.typists {
		if h.session == session && time.Since(h.at) < typingFor {
			now = append(now, h.user)
		}
	}
	return now
}
