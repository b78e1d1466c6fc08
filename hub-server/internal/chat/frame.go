package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// messageFrame is the payload of message.new: the full row, with `id` and its alias `message_id` (S3, ruling R26).
type messageFrame struct {
	ID          id.Message        `json:"id"`
	MessageID   id.Message        `json:"message_id"`
	Session     id.Session        `json:"session_id"`
	Seq         Seq               `json:"seq_id"`
	ClientMsgID ClientMsgID       `json:"client_msg_id,omitempty"`
	SenderType  MemberType        `json:"sender_type"`
	Sender      MemberID          `json:"sender_id"`
	ContentType ContentType       `json:"content_type"`
	Content     json.RawMessage   `json:"content"`
	Attachments []wire.Attachment `json:"attachments,omitempty"`
	Mentions    []id.Agent        `json:"mentions,omitempty"`
	ReplyTo     id.Message        `json:"reply_to_message_id,omitempty"`
	Tasks       []id.Run          `json:"task_ids,omitempty"`
	CreatedAt   time.Time         `json:"created_at"`
}

// Frame returns the payload of message.new for m. The same message gives the same bytes, on every hub and every device.
func Frame(m Message) ([]byte, error) {
	return encode(messageFrame{
		ID: m.ID, MessageID: m.ID, Session: m.Session, Seq: m.Seq, ClientMsgID: m.ClientMsgID,
		SenderType: m.Sender.Type(), Sender: m.Sender, ContentType: m.ContentType, Content: m.Content,
		Attachments: m.Attachments, Mentions: m.Mentions, ReplyTo: m.ReplyTo, Tasks: m.Tasks, CreatedAt: m.CreatedAt.UTC(),
	})
}

type sessionFrame struct {
	Session id.Session    `json:"session_id"`
	Type    SessionType   `json:"type"`
	Name    string        `json:"name,omitempty"`
	Owner   id.User       `json:"owner_id"`
	Members []memberFrame `json:"members"`
}

type memberFrame struct {
	ID       MemberID   `json:"member_id"`
	Type     MemberType `json:"member_type"`
	Name     string     `json:"name"`
	Role     MemberRole `json:"role"`
	JoinedAt time.Time  `json:"joined_at"`
}

// createdFrame is the payload of session.created.
func createdFrame(s Session) ([]byte, error) {
	f := sessionFrame{Session: s.ID, Type: s.Type, Name: s.Name, Owner: s.Owner, Members: make([]memberFrame, len(s.Members))}
	for i, m := range s.Members {
		f.Members[i] = memberFrame{ID: m.ID, Type: m.ID.Type(), Name: m.Name, Role: m.Role, JoinedAt: m.JoinedAt.UTC()}
	}
	return encode(f)
}

// joinedFrame is the payload of session.member_joined.
func joinedFrame(s id.Session, m MemberID) ([]byte, error) {
	return encode(struct {
		Session id.Session `json:"session_id"`
		Member  MemberID   `json:"member_id"`
		Type    MemberType `json:"member_type"`
	}{s, m, m.Type()})
}

// leftFrame is the payload of session.member_left.
func leftFrame(s id.Session, m MemberID) ([]byte, error) {
	return encode(struct {
		Session id.Session `json:"session_id"`
		Member  MemberID   `json:"member_id"`
	}{s, m})
}

// ownerFrame is the payload of session.info_updated when a conversation gets another owner.
func ownerFrame(s id.Session, owner id.User) ([]byte, error) {
	return encode(struct {
		Session id.Session         `json:"session_id"`
		Changes map[string]id.User `json:"changes"`
	}{s, map[string]id.User{"owner_id": owner}})
}

// readFrame is the payload of message.read.
func readFrame(s id.Session, u id.User, mark Seq) ([]byte, error) {
	return encode(struct {
		Session id.Session `json:"session_id"`
		User    id.User    `json:"user_id"`
		Mark    Seq        `json:"last_read_seq"`
	}{s, u, mark})
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
