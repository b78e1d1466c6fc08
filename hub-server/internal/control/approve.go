package control

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Approve answers a permission of the conversation: by the name of its call in the stream, or by its own id. The same answer again is fine. Errors:
// NotFound; Conflict for a name that may mean another call; AlreadyAnswered, PromptExpired, PromptCancelled; AgentOperateRequired; InvalidRequest, TooLarge.
func (c *Controls) Approve(ctx context.Context, by account.Principal, session id.Session, call string, d event.Decision, reason string) error {
	asked, err := c.asked(ctx, session, call)
	if err != nil {
		return err
	}
	_, err = c.Prompts.Answer(ctx, by, prompt.Reply{Run: asked.Run, Answer: wire.Answer{RequestID: asked.ID, Decision: d, Reason: reason}})
	return err
}

// asked finds what is answered. A permission that waits comes first, then one that has been settled, so that who comes late is told. A bare name is of
// a call of the main session: calls of sub-agents and of runs beside have the same names, and a person who looks at one must not answer another.
func (c *Controls) asked(ctx context.Context, session id.Session, call string) (prompt.Prompt, error) {
	if request, err := id.ParseRequest(call); err == nil {
		found, err := c.Prompts.Asked(ctx, session, request)
		if err != nil || found.Kind == event.PromptPermission {
			return found, err
		}
		return prompt.Prompt{}, nobodyAsks()
	}
	view, err := c.Conversations.View(ctx, session)
	if err != nil {
		return prompt.Prompt{}, err
	}
	return c.named(ctx, session, view.Asks, call)
}

// named finds what is answered by the name of a call.
func (c *Controls) named(ctx context.Context, session id.Session, asks []omni.Ask, call string) (prompt.Prompt, error) {
	var mains, others []omni.Ask
	for _, a := range asks {
		switch {
		case a.ToolCallID != call:
		case len(a.Origin) == 0:
			mains = append(mains, a)
		default:
			others = append(others, a)
		}
	}
	switch len(mains) {
	case 0:
	case 1:
		return c.Prompts.Asked(ctx, session, mains[0].Request)
	default:
		return prompt.Prompt{}, ambiguous()
	}
	found, err := c.Prompts.Settled(ctx, session, call)
	switch {
	case err != nil:
		return prompt.Prompt{}, err
	case len(found) == 1 && found[0].SubAgent() == "":
		return found[0], nil
	case len(found) > 0 || len(others) > 0:
		return prompt.Prompt{}, ambiguous()
	}
	return prompt.Prompt{}, nobodyAsks()
}

func ambiguous() error {
	return fault.New(fault.Conflict, "Sub-agents, or several turns, have calls of this name. Name the requestId of the one that you mean.")
}

func nobodyAsks() error {
	return fault.New(fault.NotFound, "Nobody asks for permission for such a call in this conversation.")
}
