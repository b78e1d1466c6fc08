package prompt

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Question is what the hub itself asks people about a run, such as what to do when a step of a plan has failed for good. No agent waits for
// the answer: it is in the log, as run.prompt.answered or run.prompt.expired, for whoever drives the run.
type Question struct {
	ID    id.Request // made by the caller, so that asking again after a crash asks the same
	Run   id.Run
	Kind  event.PromptKind // any but permission
	Inner json.RawMessage  // see event.CheckInner
	Limit time.Duration    // 0 for no limit
}

// Ask asks a question, once: asking with the same ID again returns what became of it. Errors: InvalidRequest, NotFound, RunEnded, Conflict.
func (p *Prompts) Ask(ctx context.Context, q Question) (Prompt, error) {
	if err := event.CheckInner(q.Kind, q.Inner); err != nil {
		return Prompt{}, fault.Wrap(err, fault.InvalidRequest, "This cannot be asked: %s.", err)
	}
	asked, err := p.Store.Prompt(ctx, q.Run, q.ID)
	if fault.CodeOf(err) != fault.NotFound {
		return asked, err
	}
	digest, err := event.InnerDigest(q.Kind, q.Inner)
	if err != nil {
		return Prompt{}, err
	}
	err = p.Runs.Ask(ctx, q.Run, event.PromptRequestedPayload{
		RequestID: q.ID, Kind: q.Kind, Inner: q.Inner, Digest: digest, Asks: event.Person, TimeoutMS: q.Limit.Milliseconds(),
	})
	if err != nil {
		return Prompt{}, fmt.Errorf("ask %s: %w", q.ID, err)
	}
	return p.Store.Prompt(ctx, q.Run, q.ID)
}

// asker is what the command with an answer needs to know.
func (p Prompt) asker() runlog.Asker { return runlog.Asker{Digest: p.Digest, ByHub: p.ByHub} }
