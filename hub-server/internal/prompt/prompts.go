package prompt

import (
	"context"
	"encoding/json"
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

// Get returns a question of the run; fault.NotFound. Whether the caller may read what it asks is not asked here.
func (p *Prompts) Get(ctx context.Context, run id.Run, request id.Request) (Prompt, error) {
	return toPeople(p.Store.Prompt(ctx, run, request))
}

// Asked returns a question of whichever run of the conversation; fault.NotFound. Whether the caller may read the conversation is not asked here.
func (p *Prompts) Asked(ctx context.Context, session id.Session, request id.Request) (Prompt, error) {
	return toPeople(p.Store.Asked(ctx, session, request))
}

// Settled returns the two newest questions of the conversation about calls of that id, which is the agents' own, that wait no more: who finds two
// knows that the id alone says too little. Whether the caller may read the conversation is not asked here.
func (p *Prompts) Settled(ctx context.Context, session id.Session, call string) ([]Prompt, error) {
	return p.Store.Settled(ctx, session, call)
}

// toPeople hides what no person is asked.
func toPeople(found Prompt, err error) (Prompt, error) {
	if err == nil && found.ByClient() {
		return Prompt{}, fault.New(fault.NotFound, "There is no such request.")
	}
	return found, err
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
		asked, err := p.Get(ctx, r.Run, r.RequestID)
		switch {
		case err != nil:
			return Prompt{}, err
		case r.Digest != "" && r.Digest != asked.Digest:
			return Prompt{}, fault.New(fault.DigestMismatch, "This answer is to something else than what was asked. Look at the request again.")
		case asked.State != Pending:
			return asked, r.settled(asked)
		}
		if err := r.fits(asked); err != nil {
			return Prompt{}, err
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

// fits says what is wrong with an answer to what was asked. A kind that this hub does not know takes a yes or a no.
func (r Reply) fits(asked Prompt) error {
	var payload event.PromptRequestedPayload
	if err := json.Unmarshal(asked.Payload, &payload); err != nil {
		return fmt.Errorf("read %s: %w", asked.ID, err)
	}
	if err := event.CheckResponse(asked.Kind, payload.Inner, r.Decision, r.Response); err != nil {
		return fault.New(fault.InvalidRequest, "The answer does not fit what was asked: %s.", err)
	}
	if asked.Kind != event.PromptPermission && len(r.UpdatedInput) > 0 {
		return fault.New(fault.InvalidRequest, "Only a permission has an input that can be changed.")
	}
	return nil
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
		RequestID: asked.ID, Kind: asked.Kind.Named(), Decision: r.Decision, By: event.Person, UserID: by.User, DeviceID: by.Device,
		Reason: r.Reason, UpdatedInput: r.UpdatedInput, Response: r.Response,
	}
	reply, err := p.Runs.Reply(found, answered, asked.asker())
	if err != nil || !found.ProcessEnded {
		return reply, err
	}
	decided, waiting := outlived(all, answered)
	if waiting || len(decided) == 0 {
		return reply, nil
	}
	next, err := p.succession(ctx, found, []runlog.Entry{reply.Settled}, by.User, decided)
	reply.Next = &next
	return reply, err
}
