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
	Mentions    []MemberID // members of the conversation when it was said, agents first
	ReplyTo     id.Message // empty when it answers none
	Tasks       []id.Run   // the runs it started
	CreatedAt   time.Time

	Revision Revision
	EditedAt time.Time // zero if it never was
	Recalled bool      // Content, Attachments and Mentions are erased
	Changed  ChangeSeq

	Forwarded *Origin // who said it first; nil for what its sender says

	Reactions []Reaction // as REST tells it; frames tell of each
	Pin       *Pin       // likewise; nil if it is not pinned
}

// Revision is how often a message was edited.
type Revision uint64

// ChangeSeq numbers what happens to messages of a conversation after they were sent; 0 for one that is as it was sent.
type ChangeSeq uint64

// ClientMsgID is a UUID that the sender made: the message's idempotency key in its conversation.
type ClientMsgID string

// ContentType says how to read a message's content. Only what Text says can ask something of agents.
type ContentType string

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

// manner is how the sender of a Text message wants an agent to go about it.
func (m Message) manner() wire.Manner {
	var manner wire.Manner
	if m.ContentType != Text || json.Unmarshal(m.Content, &manner) != nil {
		return wire.Manner{}
	}
	return manner.Known()
}
