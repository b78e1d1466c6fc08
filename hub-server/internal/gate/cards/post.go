package cards

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strings"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/gate/cards/talk"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// post sends a message of the person's, and starts what it asks for (S0 §9.1). The conversation's agent answers, whether it is mentioned or not (R33).
func (c *conn) post(ctx context.Context, h talk.Heard, a talk.Post) error {
	draft, err := c.draft(ctx, a.Message)
	if err != nil {
		return err
	}
	draft.Session, draft.ClientMsgID, draft.TraceID = a.Session, c.messageID(h.EventID), string(telemetry.NewTraceID())
	receipt, err := c.server.Messages.Post(ctx, c.who, draft)
	if err != nil || !receipt.Deduplicated {
		return err
	}
	return c.same(ctx, receipt, draft)
}

// draft is what a message says, for a conversation that is still to be named. Files that it brings along are kept; the same again is the same file.
func (c *conn) draft(ctx context.Context, m card.UserMessage) (chat.Draft, error) {
	d := chat.Draft{ContentType: chat.Text, Addressed: true}
	if m.AgentID != "" {
		agent, err := id.ParseAgent(m.AgentID)
		if err != nil {
			return d, fault.New(fault.AgentUnknown, "There is no such agent in this conversation.")
		}
		d.Mentions = []chat.MemberID{chat.OfAgent(agent)}
	}
	text, err := c.attach(ctx, &d, m)
	if err != nil {
		return d, err
	}
	d.Content, err = event.Encode(content{text, wire.Manner{CoordinatorMode: m.CoordinatorMode, PlanConfirmation: m.PlanConfirmation}})
	return d, err
}

// sayable says why a message can be said nowhere: no conversation is opened for that.
func (c *conn) sayable(ctx context.Context, m card.UserMessage) error {
	d, err := c.draft(ctx, m)
	if err != nil {
		return err
	}
	return d.Check()
}

// content is a text message with what its sender wants of the turn.
type content struct {
	Text string `json:"text"`
	wire.Manner
}

// namespace tells the ids that are made of event ids from all others.
var namespace = uuid.MustParse("4b1f5f0e-6a52-4a0a-9a53-0c8f2a1f7d10")

// messageID is the idempotency key of a message: the same event_id of the same person is the same message (S0 §9.1).
func (c *conn) messageID(eventID string) chat.ClientMsgID {
	if eventID == "" {
		return chat.ClientMsgID(uuid.NewString())
	}
	return chat.ClientMsgID(uuid.NewHash(sha256.New(), namespace, []byte(string(c.who.User)+"\n"+eventID), 8).String())
}

// same says whether what was sent before under the event_id is what is sent now: a message that is another one must not be lost without a word.
func (c *conn) same(ctx context.Context, r chat.Receipt, d chat.Draft) error {
	stored, err := c.server.Messages.Store.MessageIn(ctx, d.Session, r.Message)
	if err != nil {
		return err
	}
	said, err := event.Checksum(d.Content)
	if err != nil {
		return err
	}
	before, err := event.Checksum(stored.Content)
	if err == nil && stored.Revision == 0 && !stored.Recalled && before != said {
		err = fault.New(fault.IdempotencyConflict, "This event_id was used for another message in this conversation. Make a new one for each message.")
	}
	return err
}

// attach parts the content of a message into its words and its files.
func (c *conn) attach(ctx context.Context, d *chat.Draft, m card.UserMessage) (text string, err error) {
	var words []string
	for i, block := range m.Content {
		if block.Type == card.TextBlock {
			words = append(words, block.Text)
			continue
		}
		file, err := c.file(ctx, block)
		if err != nil {
			return "", fault.Wrap(err, fault.CodeOf(err), "Block %d: %s", i+1, fault.Public(err).Detail)
		}
		d.Attachments = append(d.Attachments, file)
	}
	return strings.Join(words, "\n"), nil
}

// file resolves the source of a block through the store of uploads. What is only pointed at was refused when it was heard.
func (c *conn) file(ctx context.Context, b card.Block) (wire.Attachment, error) {
	kind := wire.AttachmentKind(b.Type)
	switch s := b.Source; s.Type {
	case card.UploadSource:
		uploaded, err := id.ParseAttachment(s.AttachmentID)
		if err != nil {
			return wire.Attachment{}, fault.New(fault.NotFound, "there is no such file of yours.")
		}
		found, err := c.server.Files.Get(ctx, c.who.User, uploaded)
		return wire.Attachment{Kind: kind, URL: found.URL()}, err
	case card.DataSource:
		kept, err := c.server.Files.Keep(ctx, c.who.User, s.Filename, s.MediaType, bytes.NewReader(s.Data))
		return wire.Attachment{Kind: kind, URL: kept.URL()}, err
	case card.PathSource, card.URLSource:
	}
	return wire.Attachment{}, fault.New(fault.InvalidRequest, "there is no such source.")
}
