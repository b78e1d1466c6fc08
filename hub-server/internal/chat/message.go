package chat

import (
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Message is one entry of a conversation, written by a user or by an agent.
type Message struct {
	ID          id.Message
	Session     id.Session
	Seq         Seq
	ClientMsgID ClientMsgID // empty for messages of agents
	Sender      MemberID
	ContentType ContentType
	Content     json.RawMessage // JSON object; `{"text": …}` for Text
	Attachments []wire.Attachment
	Mentions    []id.Agent
	ReplyTo     id.Message // empty when it answers none
	Tasks       []id.Run   // the runs it started
	CreatedAt   time.Time
}

// ClientMsgID is a UUID that the sender made: the message's idempotency key in its conversation.
type ClientMsgID string

// ContentType says how to read a message's content. Only Text is interpreted by the hub; the others are kept as they are.
type ContentType string

// Kinds of content (S3).
const (
	Text       ContentType = "text"
	Code       ContentType = "code"
	Diff       ContentType = "diff"
	Image      ContentType = "image"
	File       ContentType = "file"
	LinkCard   ContentType = "link_card"
	DeployCard ContentType = "deploy_card"
)

// text is what a Text message says; "" for other kinds.
func (m Message) text() string {
	var content struct {
		Text string `json:"text"`
	}
	if m.ContentType != Text || json.Unmarshal(m.Content, &content) != nil {
		return ""
	}
	return content.Text
}
