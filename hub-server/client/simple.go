package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// LogIn makes a device of the user and returns what it needs to speak for them: give it to New by a Keeper. Each call makes another device, so
// keep what it returns between two starts of a program.
func LogIn(ctx context.Context, opts Options, in LoginInput) (Credentials, error) {
	anonymous, err := Anonymous(opts)
	if err != nil {
		return Credentials{}, err
	}
	tokens, err := Decode[Tokens](anonymous.Login(ctx, in))
	if err != nil {
		return Credentials{}, fmt.Errorf("log in: %w", err)
	}
	return CredentialsOf(tokens), nil
}

// Say sends a text to a conversation. A hub that cannot be reached, or is busy, is asked again until ctx ends: the message has an id of its own and
// is stored once.
func (c *Client) Say(ctx context.Context, session SessionID, text string) (MessageReceipt, error) {
	content, err := encode(struct {
		Text string `json:"text"`
	}{text})
	if err != nil {
		return MessageReceipt{}, fmt.Errorf("encode message: %w", err)
	}
	in := MessageInput{ClientMsgID: strings.TrimPrefix(string(id.NewMessage()), "msg_"), Content: content}
	silent := func(Update) error { return nil }
	send := func() (MessageReceipt, error) { return Decode[MessageReceipt](c.api.SendMessage(ctx, session, in)) }
	return asking(ctx, silent, send, busy)
}

// PayloadOf reads what a frame carries, as the type that the contract has for it:
//
//	m, err := client.PayloadOf[client.Message](*update.Frame)
func PayloadOf[T any](f HubWebSocketFrame) (T, error) {
	var payload T
	if err := json.Unmarshal(f.Payload, &payload); err != nil {
		return payload, fmt.Errorf("read payload of %s: %w", f.Type, err)
	}
	return payload, nil
}
