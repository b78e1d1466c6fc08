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
	Mentions    []MemberID        `json:"mentions,omitempty"`
	ReplyTo     id.Message        `json:"reply_to_message_id,omitempty"`
	Tasks       []id.Run          `json:"task_ids,omitempty"`
	CreatedAt   time.Time         `json:"created_at"`
	EditedAt    time.Time         `json:"edited_at,omitzero"`
	Revision    Revision          `json:"revision,omitempty"`
	Recalled    bool              `json:"recalled,omitempty"`
	Forwarded   *Origin           `json:"forwarded,omitempty"`
}

// Frame returns the payload of message.new for m. The same message gives the same bytes, on every hub and every device.
func Frame(m Message) ([]byte, error) {
	m = m.Told()
	return encode(messageFrame{
		ID: m.ID, MessageID: m.ID, Session: m.Session, Seq: m.Seq, ClientMsgID: m.ClientMsgID,
		SenderType: m.Sender.Type(), Sender: m.Sender, ContentType: m.ContentType, Content: m.Content,
		Attachments: m.Attachments, Mentions: m.Mentions, ReplyTo: m.ReplyTo, Tasks: m.Tasks, CreatedAt: m.CreatedAt.UTC(),
		EditedAt: m.EditedAt.UTC(), Revision: m.Revision, Recalled: m.Recalled, Forwarded: m.Forwarded,
	})
}

// Told is what anybody is told of a message. A client that hears message.recall makes the same of what it has.
func (m Message) Told() Message {
	if !m.Recalled {
		return m
	}
	return Message{
		ID: m.ID, Session: m.Session, Seq: m.Seq, ClientMsgID: m.ClientMsgID, Sender: m.Sender, ContentType: m.ContentType,
		Content: json.RawMessage(`{}`), Tasks: m.Tasks, CreatedAt: m.CreatedAt, Recalled: true, Changed: m.Changed,
	}
}

// pinFrame is the payload of message.pin.
func pinFrame(s id.Session, m id.Message, by id.User, at time.Time) ([]byte, error) {
	return encode(struct {
		Session id.Session `json:"session_id"`
		Message id.Message `json:"message_id"`
		By      id.User    `json:"pinned_by_user_id"`
		At      time.Time  `json:"pinned_at"`
	}{s, m, by, at.UTC()})
}

type reactionPayload struct {
	Action   string     `json:"action"`
	User     id.User    `json:"user_id"`
	Message  id.Message `json:"message_id"`
	Session  id.Session `json:"session_id"`
	Reaction string     `json:"reaction"`
	Count    int        `json:"count"`
}

// reactionFrame is the payload of message.reaction_added and message.reaction_removed.
func reactionFrame(p reactionPayload) ([]byte, error) { return encode(p) }

// unpinFrame is the payload of message.unpin.
func unpinFrame(s id.Session, m id.Message) ([]byte, error) {
	return encode(struct {
		Session id.Session `json:"session_id"`
		Message id.Message `json:"message_id"`
	}{s, m})
}

// recallFrame is the payload of message.recall.
func recallFrame(m Message) ([]byte, error) {
	return encode(struct {
		Message id.Message `json:"message_id"`
		Session id.Session `json:"session_id"`
		Seq     Seq        `json:"seq_id"`
		Sender  MemberID   `json:"sender_id"`
	}{m.ID, m.Session, m.Seq, m.Sender})
}

type sessionFrame struct {
	Session id.Session  `json:"session_id"`
	Type    SessionType `json:"type"`
	infoFrame
	Members   []memberFrame `json:"members"`
	CreatedAt time.Time     `json:"created_at"`
	settingsFrame
	LastSeq  Seq  `json:"last_seq,omitempty"` // whoever joins has read up to it
	ReadOnly bool `json:"read_only,omitempty"`
}

// settingsFrame is what one member wants to see of a conversation; whoever joins begins with none of it.
type settingsFrame struct {
	Pinned   bool    `json:"pinned"`
	Archived bool    `json:"archived"`
	Muted    bool    `json:"muted"`
	Version  Version `json:"settings_version"`
}

// settingsUpdated is the payload of session.info_updated for the devices of one member.
func settingsUpdated(s id.Session, now Settings) ([]byte, error) {
	return encode(struct {
		Session id.Session    `json:"session_id"`
		Changes settingsFrame `json:"changes"`
	}{s, settingsFrame(now)})
}

// infoFrame is everything that the owner of a conversation says of it. It travels whole: of two versions the higher one holds, in
// whichever order they come.
type infoFrame struct {
	Name         string  `json:"name,omitempty"`
	AvatarURL    string  `json:"avatar_url"`
	Announcement string  `json:"announcement"`
	Owner        id.User `json:"owner_id"`
	Version      Version `json:"info_version"`
}

func infoOf(s Session) infoFrame {
	return infoFrame{Name: s.Name, AvatarURL: s.AvatarURL, Announcement: s.Announcement, Owner: s.Owner, Version: s.Info}
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
	f := sessionFrame{
		Session: s.ID, Type: s.Type, infoFrame: infoOf(s), Members: make([]memberFrame, len(s.Members)), CreatedAt: s.CreatedAt.UTC(),
		LastSeq: s.LastSeq, ReadOnly: s.ReadOnly,
	}
	for i, m := range s.Members {
		f.Members[i] = memberOf(m)
	}
	return encode(f)
}

func memberOf(m Member) memberFrame {
	return memberFrame{ID: m.ID, Type: m.ID.Type(), Name: m.Name, Role: m.Role, JoinedAt: m.JoinedAt.UTC()}
}

// joinedFrame is the payload of session.member_joined.
func joinedFrame(s id.Session, m Member) ([]byte, error) {
	return encode(struct {
		Session id.Session `json:"session_id"`
		memberFrame
	}{s, memberOf(m)})
}

// leftFrame is the payload of session.member_left.
func leftFrame(s id.Session, m MemberID) ([]byte, error) {
	return encode(struct {
		Session id.Session `json:"session_id"`
		Member  MemberID   `json:"member_id"`
	}{s, m})
}

// updatedFrame is the payload of session.info_updated for everybody: what the owner says of the conversation, as s has it.
func updatedFrame(s Session) ([]byte, error) {
	return encode(struct {
		Session id.Session `json:"session_id"`
		Changes infoFrame  `json:"changes"`
	}{s.ID, infoOf(s)})
}

// dissolvedFrame is the payload of session.dissolved.
func dissolvedFrame(s Session) ([]byte, error) {
	return encode(struct {
		Session id.Session `json:"session_id"`
		At      time.Time  `json:"dissolved_at"`
	}{s.ID, s.DissolvedAt.UTC()})
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
