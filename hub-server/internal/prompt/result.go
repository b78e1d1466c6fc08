package prompt

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Result is what a client's tool has come to (S0 tool.result).
type Result struct {
	Session id.Session
	Call    string // the id of the card of the call, or the agent's own id of the call
	event.ClientToolResponse
}

// Return records the first result of a call and sends it on its way. The same result again is taken without a word; any other is refused. Errors:
// NotFound for a call that is none, or was made for somebody else; InvalidRequest; AlreadyAnswered, PromptExpired, PromptCancelled.
func (p *Prompts) Return(ctx context.Context, by account.Principal, r Result) error {
	if err := r.Check(); err != nil {
		return fault.New(fault.InvalidRequest, "The result does not fit: %s.", err)
	}
	response, err := event.Encode(r.ClientToolResponse)
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	for range raceRetries {
		asked, err := p.Store.Called(ctx, r.Session, by.User, r.Call)
		switch {
		case err != nil:
			return err
		case asked.State != Pending:
			return r.settled(asked, response)
		}
		done, err := p.carry(ctx, by, asked, event.PromptAnsweredPayload{
			RequestID: asked.ID, Kind: asked.Kind, Decision: r.Status.Decision(), By: event.Client, UserID: by.User, DeviceID: by.Device, Response: response,
		})
		if err != nil || done {
			return err
		}
	}
	return fmt.Errorf("result of %s: %w", r.Call, errRace)
}

// carry applies an answer of a client, and says whether the call still waited.
func (p *Prompts) carry(ctx context.Context, by account.Principal, asked Prompt, answered event.PromptAnsweredPayload) (bool, error) {
	found, err := p.Runs.Get(ctx, asked.Run)
	if err != nil {
		return false, err
	}
	reply, err := p.Runs.Reply(found, answered, asked.asker())
	if err != nil {
		return false, fmt.Errorf("prepare result of %s for %s: %w", asked.ID, by.User, err)
	}
	return p.Store.Answer(ctx, reply)
}

// settled compares a result with what was recorded: nil when it says the same.
func (r Result) settled(recorded Prompt, response []byte) error {
	switch a := recorded.Answer; {
	case a == nil && recorded.State == Expired:
		return &SettledError{recorded, fault.New(fault.PromptExpired, "The result comes too late: the time for the call is over, and the agent was told so.")}
	case a == nil:
		return &SettledError{recorded, fault.New(fault.PromptCancelled, "The result comes too late: the run is over, or its agent is gone. Nobody waits for it.")}
	case a.Decision == r.Status.Decision() && sameValue(a.Response, response):
		return nil
	}
	return &SettledError{recorded, fault.New(fault.AlreadyAnswered, "The call has had another result before. That one stands.")}
}
