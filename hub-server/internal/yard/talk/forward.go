package talk

import (
	"context"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Forward says in conversations what a message says. Like Deliver it insists, and each copy is stored once.
func (t Talker) Forward(ctx context.Context, message client.MessageID, to []client.SessionID) (client.ForwardReceipt, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var in client.ForwardInput
	for _, session := range to {
		in.To = append(in.To, client.ForwardTarget{SessionID: session, ClientMsgID: newID()})
	}
	return insist(ctx, func() (client.ForwardReceipt, error) {
		return client.Decode[client.ForwardReceipt](t.api.ForwardMessage(ctx, message, in))
	})
}

// newID makes the id of a message that is to be sent.
func newID() client.ClientMsgID { return strings.TrimPrefix(string(id.NewMessage()), "msg_") }
