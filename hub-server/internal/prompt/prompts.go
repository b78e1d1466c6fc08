package prompt

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Prompts lists questions and takes answers. Safe for concurrent use.
type Prompts struct {
	Store Store
	Runs  *runlog.Runs
}

// raceRetries is how often an answer is prepared anew because the run moved meanwhile.
const raceRetries = 16

var errRace = errors.New("the run kept moving while an answer was prepared")

// List returns a page of questions. A limit beyond MaxPage, or none, means MaxPage. Whether the caller may read what a run has asked is not
// asked here.
func (p *Prompts) List(ctx context.Context, q Query) ([]Prompt, error) {
	if q.Limit <= 0 || q.Limit > MaxPage {
		q.Limit = MaxPage
	}
	return p.Store.Prompts(ctx, q)
}

// Reply is what a person says to a question. Its digest, if it has one, is of the question that they were shown.
type Reply struct {
	Run id.Run
	wire.Answer
}

// Answer records the first answer to a question and sends it on its way. The same answer again returns what was recorded; any other is
// refused with *SettledError. Other errors: NotFound, DigestMismatch, InvalidRequest, TooLarge, AgentOperateRequired.
func (p *Prompts) Answer(ctx context.Context, by account.Principal, r Reply) (Prompt, error) {
	if err := r.Check(); err != nil {
		return Prompt{}, err
	}
	for range raceRetries {
		asked, err := p.Store.Prompt(ctx, r.Run, r.RequestID)
		switch {
		case err != nil:
			return Prompt{}, err
		case r.Digest != "" && r.Digest != asked.Digest:
			return Prompt{}, fault.New(fault.DigestMismatch, "This answer is to something else than what was asked. Look at the request again.")
		case asked.State != Pending:
			return asked, r.settled(asked)
		}
		reply, err := p.prepare(ctx, by, asked, r)
		if err != nil {
			return Prompt{}, fmt.Errorf("prepare answer: %w", err)
		}
		done, err := p.Store.Answer(ctx, reply)
		if err != nil {
			return Prompt{}, err
		}
		if done {
			return p.Store.Prompt(ctx, r.Run, r.RequestID)
		}
	}
	return Prompt{}, fmt.Errorf("answer %s: %w", r.RequestID, errRace)
}

func (p *Prompts) prepare(ctx context.Context, by account.Principal, asked Prompt, r Reply) (runlog.Reply, error) {
	// The questions are read before the run: if another one is answered in between, the run has moved and all is prepared anew.
	all, err := p.Store.Unheard(ctx, asked.Run)
	if err != nil {
		return runlog.Reply{}, err
	}
	found, err := p.Runs.Get(ctx, asked.Run)
	if err != nil {
		return runlog.Reply{}, err
	}
	answered := event.PromptAnsweredPayload{
		RequestID: asked.ID, Decision: r.Decision, By: event.Person, UserID: by.User, DeviceID: by.Device, Reason: r.Reason,
		UpdatedInput: r.UpdatedInput,
	}
	reply, err := p.Runs.Reply(found, answered, asked.Digest)
	if err != nil || !found.ProcessEnded {
		return reply, err
	}
	decided, waiting := outlived(all, answered)
	if waiting {
		return reply, nil
	}
	next, err := p.succession(ctx, found, []runlog.Entry{reply.Answered}, by.User, decided)
	reply.Next = &next
	return reply, err
}
