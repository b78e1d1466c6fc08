package cards

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/gate/cards/talk"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// offer keeps which tools the person's clients carry out in the conversation; nil leaves those that were declared before.
func (c *conn) offer(ctx context.Context, s id.Session, declared []card.ClientTool) error {
	if declared == nil {
		return nil
	}
	tools := make([]wire.ClientTool, len(declared))
	for i, tool := range declared {
		tools[i] = wire.ClientTool(tool)
	}
	return c.server.Tools.OfferTools(ctx, s, c.who.User, tools)
}

// carried takes the result of a call that was made to a client of this person (S0 tool.result). Which of their devices sends it makes no difference.
func (c *conn) carried(ctx context.Context, a talk.Return) error {
	err := c.server.Prompts.Return(ctx, c.who, prompt.Result{Session: a.Session, Call: a.Result.ToolUseID, ClientToolResponse: a.Result.Response()})
	if fault.CodeOf(err) == fault.NotFound {
		return fault.New(fault.NotFound, "unknown tool_use_id: no call of that id was made to a client of yours in this conversation.")
	}
	return err
}
