package control

import (
	"context"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Approve answers a permission of the conversation: by the name of its call in the stream, or by its own id. The same answer again is fine. Errors:
// NotFound; AlreadyAnswered, PromptExpired, PromptCancelled; AgentOperateRequired; InvalidRequest, TooLarge.
func (c *Controls) Approve(ctx context.Context, by account.Principal, session id.Session, call string, d event.Decision, reason string) error {
	asked, err := c.asked(ctx, session, call)
	if err != nil {
		return err
	}
	_, err = c.Prompts.Answer(ctx, by, prompt.Reply{Run: asked.Run, Answer: wire.Answer{RequestID: asked.ID, Decision: d, Reason: reason}})
	return err
}

// asked finds what is answered. A permission that waits comes first, then one that has been settled, so that who comes late is told.
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
	if i := slices.IndexFunc(view.Asks, func(a omni.Ask) bool { return a.ToolCallID == call }); i >= 0 {
		return c.Prompts.Asked(ctx, session, view.Asks[i].Request)
	}
	own, _, _ := strings.Cut(call, "#") // the stream numbers calls whose ids are not unique
	for _, name := range slices.Compact([]string{call, own}) {
		found, err := c.Prompts.Settled(ctx, session, name)
		if fault.CodeOf(err) != fault.NotFound {
			return found, err
		}
	}
	return prompt.Prompt{}, nobodyAsks()
}

func nobodyAsks() error {
	return fault.New(fault.NotFound, "Nobody asks for permission for such a call in this conversation.")
}
