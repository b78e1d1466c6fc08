package talk

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// Steer says something to the agent that is at work in a conversation. Like Deliver it insists, and says it once however often it has to ask.
func (t Talker) Steer(ctx context.Context, session client.SessionID, text string) (client.OmniSteerReceipt, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	key := &client.SteerOmniTaskParams{IdempotencyKey: Key()}
	return insist(ctx, func() (client.OmniSteerReceipt, error) {
		return client.Decode[client.OmniSteerReceipt](t.api.SteerOmniTask(ctx, session, key, client.OmniSteerInput{Text: text}))
	})
}
