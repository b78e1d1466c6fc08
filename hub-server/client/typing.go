package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/coder/websocket"
)

// ErrNoStream says that this client follows no stream at the moment.
var ErrNoStream = errors.New("no stream of this client is connected")

// typingWithin bounds one write. The end of a write breaks a connection, so it is no caller's to end.
const typingWithin = 5 * time.Second

// Typing tells the others of a conversation that this user is typing (S3, the only frame of a client), over the connection of the stream or feed
// that this client follows; ErrNoStream if there is none. It is forgotten when it is not heard: send it anew every few seconds for as long as
// somebody types. Hubs drop what is more than ten a second. Safe for concurrent use.
func (c *Client) Typing(session SessionID) error {
	socket := c.live.Load()
	if socket == nil {
		return ErrNoStream
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
