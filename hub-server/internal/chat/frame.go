package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// frame is the payload of message.new: the full row, with `id` and its alias `message_id` (S3, ruling R26).
type frame struct {
	ID          id.Message      `json:"id"`
	MessageID   id.Message      `json:"message_id"`
	Session     id.Session      `json:"session_id"`
	Seq         Seq             `json:"seq_id"`
	ClientMsgID ClientMsgID     `json:"client_msg_id,omitempty"`
	SenderType  MemberType      `json:"sender_type"`
	Sender      MemberID        `json:"sender_id"`
	ContentType ContentType     `json:"content_type"`
	Content     json.RawMessage `json:"content"`
	Mentions    []id.Agent      `json:"mentions,omitempty"`
	ReplyTo     id.Message      `json:"reply_to_message_id,omitempty"`
	Tasks       []id.Run        `json:"task_ids,omitempty"`
	CreatedAt   time.Time       `json:"created_at"`
}

// Frame returns the payload of message.new for m. The same message gives the same bytes, on every hub and every device.
func Frame(m Message) ([]byte, error) {
	return encode(frame{
		ID: m.ID, MessageID: m.ID, Session: m.Session, Seq: m.Seq, ClientMsgID: m.ClientMsgID,
		SenderType: m.Sender.Type(), Sender: m.Sender, ContentType: m.ContentType, Content: m.Content,
		Mentions: m.Mentions, ReplyTo: m.ReplyTo, Tasks: m.Tasks, CreatedAt: m.CreatedAt.UTC(),
	})
}

// encode leaves `<`, `>` and `&` as people wrote them.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode frame: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
