package devices

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// refusal reads an answer of which only matters whether it is one.
func refusal(resp *http.Response, err error) error {
	_, err = client.Decode[client.Nothing](resp, err)
	return err
}

// contents are of each type that there is (S3); %d stands for a number.
var contents = map[client.ContentType]string{
	client.ContentTypeText:       `{"text":"word %d"}`,
	client.ContentTypeCode:       `{"code":"x := %d","language":"go"}`,
	client.ContentTypeDiff:       `{"diff":"-a\n+%d\n","filename":"a.txt"}`,
	client.ContentTypeImage:      `{"url":"https://example.com/%d.png","alt":"a picture"}`,
	client.ContentTypeFile:       `{"caption":"file %d"}`,
	client.ContentTypeLinkCard:   `{"url":"https://example.com/%d","title":"A page"}`,
	client.ContentTypeDeployCard: `{"title":"web %d","status":"succeeded"}`,
}

var kinds = []client.ContentType{
	client.ContentTypeText, client.ContentTypeText, client.ContentTypeText, client.ContentTypeCode, client.ContentTypeDiff, client.ContentTypeImage,
	client.ContentTypeFile, client.ContentTypeLinkCard, client.ContentTypeDeployCard,
}

// draft is a message of some type, at times one that mentions the other person.
func (d *day) draft(p *person, kind client.ContentType) (client.MessageInput, error) {
	n := d.random.IntN(1000)
	in := client.MessageInput{ContentType: kind, Content: json.RawMessage(fmt.Sprintf(contents[kind], n))}
	if kind == client.ContentTypeText && d.random.IntN(4) == 0 {
		in.Content = json.RawMessage(fmt.Sprintf(`{"text":"%d words for @%s"}`, n, d.other(p).name))
	}
	if kind != client.ContentTypeFile {
		return in, nil
	}
	file, err := p.hand.Upload(d.ctx(), fmt.Sprintf("notes %d.txt", n), "text/plain", strings.NewReader(fmt.Sprintf("note %d of %s", n, p.name)))
	in.Attachments = []client.Attachment{{Kind: client.AttachmentKindFile, URL: file.URL, Filename: file.Filename}}
	return in, err
}

func send(d *day, p *person) error {
	r, err := d.room(p, false)
	if err != nil {
		return err
	}
	in, err := d.draft(p, kinds[d.random.IntN(len(kinds))])
	if err != nil {
		return err
	}
	if d.random.IntN(6) == 0 && r.inside[d.other(p)] {
		in.Mentions = []client.MemberID{d.other(p).id}
	}
	return d.send(p, r, in)
}

// forward says in another conversation what a message says. A copy is not edited.
func forward(d *day, p *person) error {
	m, err := d.recent()
	if err != nil {
		return err
	}
	r, err := d.room(p, false)
	if err != nil {
		return err
	}
	in := client.ForwardInput{To: []client.ForwardTarget{{SessionID: r.id, ClientMsgID: newKey()}}}
	receipt, err := client.Decode[client.ForwardReceipt](p.hand.API().ForwardMessage(d.ctx(), m.id, in))
	for _, made := range receipt.Items {
		d.said = append(d.said, said{id: made.MessageID, seq: made.SeqID, room: r})
	}
	return err
}

func (d *day) send(p *person, r *room, in client.MessageInput) error {
	in.ClientMsgID = newKey()
	receipt, err := client.Decode[client.MessageReceipt](p.hand.API().SendMessage(d.ctx(), r.id, in))
	if err != nil {
		return err
	}
	d.said = append(d.said, said{receipt.MessageID, receipt.SeqID, r, in.ContentType})
	for _, run := range receipt.TaskIds {
		d.runs[run], d.begun = r.id, append(d.begun, run)
	}
	return nil
}

func reply(d *day, p *person) error {
	to, err := d.recent()
	if err != nil {
		return err
	}
	in, err := d.draft(p, client.ContentTypeText)
	if err != nil {
		return err
	}
	in.ReplyToMessageID = to.id
	return d.send(p, to.room, in)
}

func edit(d *day, p *person) error {
	m, err := d.recent()
	if err != nil || m.kind == "" {
		return errNothing
	}
	in, err := d.draft(p, m.kind)
	if err != nil {
		return err
	}
	return refusal(p.hand.API().EditMessage(d.ctx(), m.id, client.MessageEdit{Content: in.Content, Attachments: in.Attachments}))
}

// with does something to one of the last messages.
func with(d *day, do func(message string) (*http.Response, error)) error {
	m, err := d.recent()
	if err != nil {
		return err
	}
	return refusal(do(m.id))
}

func takeBack(d *day, p *person) error {
	return with(d, func(m string) (*http.Response, error) { return p.hand.API().RecallMessage(d.ctx(), m) })
}

func pinIt(d *day, p *person) error {
	return with(d, func(m string) (*http.Response, error) { return p.hand.API().PinMessage(d.ctx(), m) })
}

func unpinIt(d *day, p *person) error {
	return with(d, func(m string) (*http.Response, error) { return p.hand.API().UnpinMessage(d.ctx(), m) })
}

func (d *day) reaction() string { return []string{"👍", "❤️", "ok", "不错"}[d.random.IntN(4)] }

func reactTo(d *day, p *person) error {
	return with(d, func(m string) (*http.Response, error) {
		return p.hand.API().AddReaction(d.ctx(), m, client.ReactionInput{Reaction: d.reaction()})
	})
}

func unreactTo(d *day, p *person) error {
	return with(d, func(m string) (*http.Response, error) {
		return p.hand.API().RemoveReaction(d.ctx(), m, &client.RemoveReactionParams{Reaction: d.reaction()})
	})
}

func readUpTo(d *day, p *person) error {
	m, err := d.recent()
	if err != nil {
		return err
	}
	return refusal(p.hand.API().MarkRead(d.ctx(), m.room.id, client.ReadMarkInput{LastReadSeq: m.seq}))
}
