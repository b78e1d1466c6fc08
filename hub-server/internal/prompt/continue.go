package prompt

import (
	"context"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// decision is an answer with the question that it is for.
type decision struct {
	asked  Prompt
	answer event.PromptAnsweredPayload
	at     time.Time
}

// outlived returns, in the order in which they were asked, the answers that a process did not live to hear, with last as the answer to its
// question. waiting says that another question has none yet.
func outlived(all []Prompt, last event.PromptAnsweredPayload) (decided []decision, waiting bool) {
	for _, p := range all {
		switch {
		case p.ID == last.RequestID && p.ByHub: // no agent has asked it
		case p.ID == last.RequestID:
			decided = append(decided, decision{p, last, time.Now()})
		case p.State == Pending:
			waiting = true
		case p.Outlived && p.State == Answered:
			decided = append(decided, decision{p, p.Answer.payload(p.ID), p.Answer.At})
		case p.Outlived && p.State == Expired:
			decided = append(decided, decision{asked: p, answer: event.PromptAnsweredPayload{RequestID: p.ID, Decision: event.NoAnswer}})
		}
	}
	return decided, waiting
}

func (a Answer) payload(request id.Request) event.PromptAnsweredPayload {
	return event.PromptAnsweredPayload{
		RequestID: request, Decision: a.Decision, By: a.By, UserID: a.User, DeviceID: a.Device, Reason: a.Reason, UpdatedInput: a.UpdatedInput,
		Response: a.Response,
	}
}

// Continue implements runlog.Continuer: it is for answers that were on their way to a process when it ended.
func (p *Prompts) Continue(ctx context.Context, abandoned runlog.Run) error {
	all, err := p.Store.Unheard(ctx, abandoned.ID)
	if err != nil {
		return err
	}
	decided, waiting := outlived(all, event.PromptAnsweredPayload{})
	if waiting {
		return nil
	}
	if !slices.ContainsFunc(decided, decision.given) {
		return p.Runs.Abandon(ctx, abandoned.ID, nothingToTell(len(decided)))
	}
	by := lastPerson(all, abandoned.RequestedBy)
	next, err := p.succession(ctx, abandoned, nil, by, decided)
	if err != nil {
		return err
	}
	_, err = p.Store.Succeed(ctx, next) // a run that has moved is looked at again
	switch fault.CodeOf(err) {
	case fault.AgentUnknown, fault.AgentOperateRequired, fault.SessionDissolved:
		why := fault.Public(err)
		return p.Runs.Abandon(ctx, abandoned.ID, event.ErrorObj{Code: why.Code, Message: why.Detail})
	}
	return err
}

// given says whether somebody has answered.
func (d decision) given() bool { return d.answer.Decision != event.NoAnswer }

// nothingToTell is how a run fails for which nobody has answered anything in time.
func nothingToTell(expired int) event.ErrorObj {
	if expired > 0 {
		return event.ErrorObj{Code: fault.Timeout, Message: "The agent's process has ended, and nobody answered in time what it had asked."}
	}
	return event.ErrorObj{Code: fault.ProcessLost, Message: "The agent's process has ended. Nothing that it asked is known, so it cannot go on."}
}

// lastPerson is who answered last.
func lastPerson(all []Prompt, otherwise id.User) id.User {
	last := time.Time{}
	for _, p := range all {
		if a := p.Answer; a != nil && a.User != "" && a.At.After(last) {
			last, otherwise = a.At, a.User
		}
	}
	return otherwise
}

// succession prepares the run that takes the answers back to the agent. A yes is also a grant: the agent will ask the same again.
func (p *Prompts) succession(
	ctx context.Context, ended runlog.Run, follow []runlog.Entry, by id.User, decided []decision,
) (runlog.Succession, error) {
	latest := slices.MaxFunc(decided, func(a, b decision) int { return a.at.Compare(b.at) })
	return p.Runs.Succeed(ctx, ended, follow, by, tell(decided), wire.Continues{
		RunID: ended.ID, RequestID: latest.asked.ID, Decision: latest.answer.Decision, Grants: grants(decided),
	})
}
