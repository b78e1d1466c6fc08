package runlog

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Reply settles a question of a run: by the answer of a person or a client, or without one because its time is over. It is prepared for the run as it stood.
type Reply struct {
	Run     Run
	Request id.Request
	By      id.User       // "" when nobody has answered
	Settled Entry         // run.prompt.answered or run.prompt.expired
	Timer   *timer.Timer  // that has fired, and is taken in the same transaction; nil for an answer
	Control []byte        // payload of agent.control (S3), which goes with the command; nil unless a permission is given or refused
	Command *wire.Command // to the edge; nil when the process that asked is gone …
	Next    *Succession   // … and then how the run goes on, once this was the last answer that it waited for
}

// ByClient says whether it is the answer of a client, about whose right to give it other rules decide.
func (r Reply) ByClient() bool {
	return r.Settled.Prompt.answered != nil && r.Settled.Prompt.answered.By == event.Client
}

// Asker is what a command with an answer needs to know of the question.
type Asker struct {
	Digest string
	ByHub  bool // no process at an edge waits
}

// Reply prepares the answer a of a person to a question of the run, or of a client to a call. Whether they may is not asked here.
func (r *Runs) Reply(found Run, a event.PromptAnsweredPayload, by Asker) (Reply, error) {
	reply, err := r.settle(found, by, run.Candidate{Type: event.PromptAnswered, Payload: a}, wire.Answer{
		RequestID: a.RequestID, Decision: a.Decision, Reason: a.Reason, UpdatedInput: a.UpdatedInput, Response: a.Response, Digest: by.Digest,
		UserID: a.UserID, Kind: callKind(a.Kind),
	})
	if err == nil && reply.Command != nil && a.Kind == event.PromptPermission.Named() {
		reply.Control, err = control(found, a)
	}
	return reply, err
}

// Expire prepares the end of the waiting for an answer.
func (r *Runs) Expire(found Run, x event.PromptExpiredPayload, by Asker) (Reply, error) {
	answer := wire.Answer{RequestID: x.RequestID, Decision: event.NoAnswer, Digest: by.Digest, Kind: callKind(x.Kind)}
	return r.settle(found, by, run.Candidate{Type: event.PromptExpired, Payload: x}, answer)
}

// callKind is how a command names the kind: that of people's answers it leaves out.
func callKind(k event.PromptKind) event.PromptKind {
	if k == event.PromptClientTool {
		return k
	}
	return ""
}

func (r *Runs) settle(found Run, by Asker, fact run.Candidate, answer wire.Answer) (Reply, error) {
	settled, err := own(fact, now())
	if err != nil {
		return Reply{}, err
	}
	reply := Reply{Run: found, Request: answer.RequestID, By: answer.UserID, Settled: settled}
	if found.ProcessEnded || by.ByHub {
		return reply, nil
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return Reply{}, fmt.Errorf("encode answer: %w", err)
	}
	c := r.signer.Command(found.Edge, wire.Command{
		DeliveryID: id.NewDelivery(), Kind: wire.AnswerPrompt, RunID: found.ID, Lease: found.Lease, Body: body,
	})
	reply.Command = &c
	return reply, nil
}

// Ask puts a question of the hub's own into the log of a run that works; fault.RunEnded, and Conflict for one that has not begun.
func (r *Runs) Ask(ctx context.Context, runID id.Run, asked event.PromptRequestedPayload) error {
	entry, err := own(run.Candidate{Type: event.PromptRequested, Payload: asked}, now())
	if err != nil {
		return err
	}
	for range raceRetries {
		found, err := r.store.Run(ctx, runID)
		switch {
		case err != nil:
			return err
		case found.State.Ended():
			return over(found)
		case found.State != run.StateRunning && found.State != run.StateWaitingPerson:
			return fault.New(fault.Conflict, "The run is %s: it has nothing to ask.", found.State)
		}
		if done, err := r.store.AppendOwn(ctx, runID, found.LastEventSeq, []Entry{entry}); err != nil || done {
			return err
		}
	}
	return errRace
}

// Succession ends a run whose process is gone, and begins another one that takes the answers back to the agent's own session (R21).
type Succession struct {
	Run   Run // as it stood
	By    id.User
	Ended []Entry
	Next  NewRun
}

// Succeed prepares the succession of a run. follow are events that come before its end, by is the person whose answer makes it go on, text is
// what the agent is told.
func (r *Runs) Succeed(
	ctx context.Context, found Run, follow []Entry, by id.User, text string, continues wire.Continues,
) (Succession, error) {
	earlier, err := r.succession.Dispatched(ctx, found.ID)
	if err != nil {
		return Succession{}, fmt.Errorf("read dispatch of %s: %w", found.ID, err)
	}
	next, err := r.dispatcher.successor(ctx, earlier, by, text, continues)
	if err != nil {
		return Succession{}, fmt.Errorf("prepare the run after %s: %w", found.ID, err)
	}
	ended, err := r.closer.ending(ctx, found, follow, run.Continued(next.ID))
	return Succession{Run: found, By: by, Ended: ended, Next: next}, err
}

// Abandon ends a run whose process is gone and which cannot go on.
func (r *Runs) Abandon(ctx context.Context, runID id.Run, why event.ErrorObj) error {
	return r.finish(ctx, runID, run.Failed(why))
}

// successor returns a run of the same agent with the same configuration, on the edge that holds the agent's own session.
func (d *Dispatcher) successor(
	ctx context.Context, earlier NewRun, by id.User, text string, continues wire.Continues,
) (next NewRun, err error) {
	var order wire.Dispatch
	err = json.Unmarshal(earlier.Dispatch, &order)
	if err != nil {
		return NewRun{}, fmt.Errorf("read dispatch: %w", err)
	}
	at, runID := now(), id.NewRun()
	order.TaskID, order.Prompt, order.Attachments, order.Continues = runID, text, nil, &continues
	order.TriggerUserID, order.CreatedAt, order.Compact = by, at, false
	if order.ClientTools, err = d.people.ClientTools(ctx, earlier.Session, by); err != nil {
		return NewRun{}, err
	}
	if order.ApprovalMode, err = d.people.ApprovalMode(ctx, earlier.Session, by); err != nil {
		return NewRun{}, err
	}
	body, err := encodeDispatch(order)
	if err != nil {
		return NewRun{}, err
	}
	next = NewRun{
		Run: Run{
			ID: runID, Root: runID, Continues: earlier.ID, Session: earlier.Session, Agent: earlier.Agent, AgentName: earlier.AgentName,
			AgentChecksum: earlier.AgentChecksum, Trigger: earlier.Trigger, RequestedBy: by, TraceID: earlier.TraceID,
			State: run.StateWaitingEdge, CreatedAt: at,
		},
		Placement: earlier.Placement, Dispatch: body,
	}
	next.Placement.By, next.Placement.Edge, next.Placement.Mode, next.Placement.Needs = by, earlier.Edge, order.ApprovalMode, ""
	return d.place(ctx, next)
}

// Fits says whether the reply was prepared for the run as it stands now. While its process works, the run may say what it likes meanwhile.
func (r Reply) Fits(h Head) bool {
	if h.Edge != r.Run.Edge || h.Lease != r.Run.Lease || h.ProcessEnded != r.Run.ProcessEnded {
		return false
	}
	return !h.ProcessEnded || h.Last == r.Run.LastEventSeq
}
