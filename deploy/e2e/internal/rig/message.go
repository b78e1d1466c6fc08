package rig

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"

	"github.com/google/uuid"
)

// Text is the content of a plain message.
func Text(text string) client.MessageContent {
	content, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		panic(err) // a string is always JSON
	}
	return content
}

// Send posts a text and returns the runs that it started. It repeats the same message until the hub answers, as an app would.
func (d *Device) Send(session, text string) []string {
	d.rig.T.Helper()
	return d.Post(session, client.MessageInput{ClientMsgID: uuid.NewString(), Content: Text(text)}).TaskIds
}

// Post is Send for a whole message.
func (d *Device) Post(session string, message client.MessageInput) (receipt client.MessageReceipt) {
	d.rig.T.Helper()
	d.eventually("send", func() (err error) {
		receipt, err = client.Decode[client.MessageReceipt](d.API().SendMessage(d.rig.T.Context(), session, message))
		return err
	})
	return receipt
}

// Messages reads a whole conversation over REST, page by page, the newest page first. It asks again while the hub is away.
func (d *Device) Messages(session string) []client.Message {
	d.rig.T.Helper()
	var all []client.Message
	for params := (client.ListMessagesParams{}); ; {
		page := d.page(session, params)
		all = append(all, page.Items...)
		if page.Next == 0 {
			return all
		}
		params.BeforeSeq = &page.Next
	}
}

// NewestMessages reads the newest page of a conversation over REST. It asks again while the hub is away.
func (d *Device) NewestMessages(session string) []client.Message {
	d.rig.T.Helper()
	return d.page(session, client.ListMessagesParams{}).Items
}

func (d *Device) page(session string, params client.ListMessagesParams) (page client.MessageList) {
	d.rig.T.Helper()
	d.eventually("read messages", func() (err error) {
		page, err = client.Decode[client.MessageList](d.API().ListMessages(d.rig.T.Context(), session, &params))
		return err
	})
	return page
}

// Run sends a text that starts exactly one run and returns its id.
func (d *Device) Run(session, text string) id.Run {
	d.rig.T.Helper()
	tasks := d.Send(session, text)
	if len(tasks) != 1 {
		d.rig.T.Fatalf("%q started %d runs, want 1", text, len(tasks))
	}
	return id.Run(tasks[0])
}
