package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Limits of a message.
const (
	MaxContent  = 64 << 10 // bytes: of the text of a Text message, of the whole content of others
	MaxMentions = 16       // agents
	MaxPeople   = 64       // mentioned in it
	maxKeys     = 32       // of a content object
)

// Draft is a message that somebody wants to send. Who sends it comes from the login, its number and its time from the hub (SEC12).
type Draft struct {
	Session     id.Session
	ClientMsgID ClientMsgID
	ContentType ContentType // "" means Text
	Content     json.RawMessage
	Attachments []wire.Attachment
	Mentions    []MemberID // besides those that the text names
	ReplyTo     id.Message // "" for none
	TraceID     string     // 32 hex, of the request
	// Addressed asks the only agent of the conversation, mentioned or not, if the sender may operate it (R33).
	Addressed bool
}

// ParseClientMsgID accepts a lower-case UUID.
func ParseClientMsgID(s string) (ClientMsgID, error) {
	if len(s) != 36 || s != strings.ToLower(s) || uuid.Validate(s) != nil {
		return "", fault.New(fault.InvalidRequest, "client_msg_id must be a lower-case UUID that you make anew for each message.")
	}
	return ClientMsgID(s), nil
}

// newClientMsgID is for messages that the API sends in somebody's name.
func newClientMsgID() ClientMsgID { return ClientMsgID(uuid.NewString()) }

// Check says what is wrong with the draft, whichever conversation it is for: what is refused there for the conversation's sake is not known here.
func (d Draft) Check() error {
	_, _, err := d.check()
	return err
}

// check returns the draft in the form in which it is stored, and its text if it is one.
func (d Draft) check() (Draft, string, error) {
	if d.ContentType == "" {
		d.ContentType = Text
	}
	if agents, people := listed(d.Mentions); len(agents) > MaxMentions || len(people) > MaxPeople {
		return d, "", tooManyMentions()
	}
	if err := checkAttachments(d.Attachments); err != nil {
		return d, "", err
	}
	fields, err := contentFields(d.Content)
	if err != nil {
		return d, "", err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, d.Content); err != nil {
		return d, "", fmt.Errorf("compact content: %w", err)
	}
	d.Content = compact.Bytes()
	if d.ContentType != Text {
		if err := checkSize(len(d.Content)); err != nil {
			return d, "", err
		}
		return d, "", checkShape(d.ContentType, fields, len(d.Attachments))
	}
	text, err := textOf(fields)
	if err == nil && strings.TrimSpace(text) == "" && len(d.Attachments) == 0 {
		err = emptyPrompt()
	}
	return d, text, err
}

func contentFields(content json.RawMessage) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(content, &fields); err != nil || fields == nil {
		return nil, fault.New(fault.InvalidRequest, "content must be a JSON object.")
	}
	if len(fields) > maxKeys {
		return nil, fault.New(fault.InvalidRequest, "content must have at most %d fields.", maxKeys)
	}
	if _, forged := fields["agent_task"]; forged {
		return nil, fault.New(fault.InvalidRequest, "content.agent_task is set by the hub alone.")
	}
	return fields, nil
}

func textOf(fields map[string]json.RawMessage) (string, error) {
	var text *string
	if err := json.Unmarshal(fields["text"], &text); err != nil || text == nil {
		return "", fault.New(fault.InvalidRequest, "content.text must be a string.")
	}
	return *text, checkSize(len(*text))
}

func checkSize(n int) error {
	if n > MaxContent {
		return fault.New(fault.TooLarge, "The message has %d bytes; at most %d are taken. Send the rest as a file.", n, MaxContent)
	}
	return nil
}

func emptyPrompt() error {
	return fault.New(fault.EmptyPrompt, "The message is empty. Write what you want to say.")
}

func tooManyMentions() error {
	return fault.New(fault.TooLarge, "A message may mention at most %d agents and %d people.", MaxMentions, MaxPeople)
}

// textContent is the content of a Text message.
func textContent(text string) (json.RawMessage, error) {
	return encode(struct {
		Text string `json:"text"`
	}{text})
}
