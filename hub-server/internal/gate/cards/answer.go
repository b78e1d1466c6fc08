package cards

import (
	"cmp"
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/gate/cards/talk"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// answer answers a question of the conversation (S0 §7.3). The reply that everybody sees comes in the trace; who says the same once more is told
// again what was recorded (R8).
func (c *conn) answer(ctx context.Context, a talk.Answer) error {
	asked, err := c.asked(ctx, a)
	if err != nil {
		return err
	}
	if err := c.operates(ctx, asked); err != nil {
		return err
	}
	said, err := answerTo(asked, a.Response)
	if err != nil {
		return err
	}
	recorded, err := c.server.Prompts.Answer(ctx, c.who, prompt.Reply{Run: asked.Run, Answer: said})
	if err != nil {
		return err
	}
	if asked.State != prompt.Pending {
		c.tell(func(t *talk.Talk) { t.Replied(time.Now(), replyOf(recorded)) })
	}
	return nil
}

// asked returns the question; the same refusal for one of another conversation as for none.
func (c *conn) asked(ctx context.Context, a talk.Answer) (prompt.Prompt, error) {
	request, err := id.ParseRequest(a.Response.RequestID)
	if err != nil {
		return prompt.Prompt{}, unknownRequest()
	}
	asked, err := c.server.Prompts.Asked(ctx, a.Session, request)
	if fault.CodeOf(err) == fault.NotFound {
		err = unknownRequest()
	}
	return asked, err
}

func unknownRequest() error {
	return fault.New(fault.NotFound, "unknown request_id: nothing of that id was asked in this conversation.")
}

// operates is the right to answer: to be in the conversation, and to operate the agent, both now (SEC14).
func (c *conn) operates(ctx context.Context, asked prompt.Prompt) error {
	in, err := c.server.Sessions.IsMember(ctx, c.who.User, asked.Session)
	if err != nil {
		return err
	}
	if !in {
		return unknownRequest()
	}
	run, err := c.server.Runs.Get(ctx, asked.Run)
	if err != nil {
		return err
	}
	return c.mayOperate(ctx, run.Agent, run.AgentName)
}

// answerTo puts a response into the words of the record.
func answerTo(asked prompt.Prompt, r card.PromptResponse) (wire.Answer, error) {
	a, err := r.Answer(asked.Kind)
	if err == nil && a.Scope == "session" && a.Decision == event.Allow {
		err = fault.New(fault.InvalidRequest, "scope is once: no permission of this hub holds for longer than the request.")
	}
	return wire.Answer{RequestID: asked.ID, Decision: a.Decision, Reason: a.Reason, Response: a.Response}, err
}

// replyOf is what was recorded, as prompt.reply says it (R27).
func replyOf(p prompt.Prompt) card.ReplyPayload {
	reply := card.ReplyPayload{RequestID: string(p.ID), Decision: card.ReplyCancelled}
	switch {
	case p.State == prompt.Expired:
		reply.Decision = card.TimedOut
	case p.Answer != nil:
		reply.Decision, reply.Reason = card.ReplyTo(p.Answer.Decision)
		reply.Reason = cmp.Or(reply.Reason, p.Answer.Reason)
	}
	return reply
}
