package admission

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/crashpoint"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// turn is a run on its way from admission to its terminal. After the schedule has handed it out it belongs to one place.
type turn struct {
	job        Job
	dialogue   journal.Dialogue
	origin     journal.Origin
	normaliser *run.Normaliser
	behind     bool // the normaliser knows events that the journal did not take
	met        bool // the agent has named its session in this turn

	cancel  context.CancelCauseFunc // stops the run, once it has a place
	process Process                 // once it is started; guarded by the schedule
	held    []wire.ControlOrder     // what it is told before that, the oldest first; guarded by the schedule
}

// newTurn reads the body of a start command. Its fault says what is wrong with it.
func newTurn(edge id.Edge, c wire.Command) (*turn, error) {
	var d wire.Dispatch
	if err := json.Unmarshal(c.Body, &d); err != nil {
		return nil, fault.Wrap(err, fault.InvalidRequest, "The dispatch cannot be read.")
	}
	if err := errors.Join(wire.CheckAttachments(d.Attachments), wire.CheckClientTools(d.ClientTools)); err != nil {
		return nil, err
	}
	_, sessionErr := id.ParseSession(string(d.SessionID))
	_, agentErr := id.ParseAgent(string(d.AgentID))
	trace, traceErr := event.FormatTraceID(d.TraceID)
	if err := errors.Join(sessionErr, agentErr, traceErr); err != nil || d.TaskID != c.RunID {
		return nil, fault.Wrap(err, fault.InvalidRequest, "The dispatch names its session, agent, trace or run wrongly.")
	}
	return &turn{
		job: Job{
			Run: c.RunID, Session: d.SessionID, SessionName: d.SessionName, Agent: d.AgentID, AgentName: d.AgentName,
			Profile: d.Profile, Prompt: d.Prompt, Attachments: d.Attachments, Manner: d.Manner, ClientTools: d.ClientTools,
			Grants: d.Grants(), TraceID: d.TraceID, Approval: approval(d.ApprovalMode), Compact: d.Compact, Thinking: thinking(d),
		},
		dialogue:   journal.Dialogue{Session: d.SessionID, Agent: d.AgentID, Profile: d.Profile},
		origin:     journal.Origin{TraceID: trace, Scope: event.Scope{ConversationID: d.SessionID, RunID: c.RunID, EdgeID: edge}},
		normaliser: run.New(run.Options{}),
	}, nil
}

// approval is the person's mode. One that this edge does not know asks a person: none asks more.
func approval(mode wire.ApprovalMode) wire.ApprovalMode {
	if mode.Known() {
		return mode
	}
	return wire.AlwaysAsk
}

func thinking(d wire.Dispatch) wire.ThinkingLevel {
	if d.ThinkingLevel.Known() {
		return d.ThinkingLevel
	}
	return ""
}

// perform sees one run through; the end of life asks for its stop. Errors are those of the journal; everything else ends the run, not the
// edge.
func (a *Admission) perform(life context.Context, t *turn) error {
	ctx := context.WithoutCancel(life) // what has happened is journalled even while the run is stopped
	if err := a.prepare(ctx, t); err != nil {
		return err
	}
	crashpoint.Reach(crashpoint.RunIntended)
	process, err := a.start(life, t)
	if err != nil {
		return a.end(ctx, life, t, Exit{Outcome: run.Failed(startError(err)), Gone: true})
	}
	crashpoint.Reach(crashpoint.RunSpawned)
	a.metrics.started.Inc()
	a.schedule.started(t, process)
	started := t.normaliser.Start(process.WorkDir(), a.opts.Now())
	journalErr := a.journal.CommitStarted(ctx, t.origin, process.PID(), started...)
	if journalErr != nil {
		t.cancel(errStopping) // an agent that leaves no trace must not work
	}
	crashpoint.Reach(crashpoint.RunRecorded)
	exit := process.Follow(life, func(e run.AgentEvent) error { return a.say(life, t, e) })
	if journalErr != nil {
		return fmt.Errorf("record start: %w", journalErr)
	}
	return a.end(ctx, life, t, exit)
}

// prepare completes the job and records the intent to start it.
func (a *Admission) prepare(ctx context.Context, t *turn) error {
	session, err := a.journal.AgentSession(ctx, t.dialogue)
	if err != nil {
		return err
	}
	t.job.AgentSession = AgentSession(session)
	t.origin.Scope.ThreadID = session
	t.job.Nonce = newNonce()
	if err := a.journal.Intend(ctx, t.job.Run, string(t.job.Nonce)); err != nil {
		return fmt.Errorf("record intent: %w", err)
	}
	return nil
}

// start spawns the process unless the run has been stopped already.
func (a *Admission) start(life context.Context, t *turn) (Process, error) {
	if stopped(life) {
		return nil, context.Cause(life)
	}
	return a.opts.Executor.Start(life, t.job)
}

// say puts what the agent says into the journal. It blocks while there is no room, until the run is stopped.
func (a *Admission) say(life context.Context, t *turn, e run.AgentEvent) error {
	if _, failed := e.(run.Failure); failed && stopped(life) {
		return nil // the stop made it fail
	}
	ctx := context.WithoutCancel(life)
	if fact, ok := e.(run.Fact); ok && fact.Type == event.SessionInit {
		if err := a.meet(ctx, t, fact); err != nil {
			return err
		}
	}
	said := t.normaliser.Step(e)
	if len(said) == 0 {
		return nil
	}
	var err error
	if t.normaliser.Ended() {
		err = a.journal.Commit(ctx, t.origin, said...)
	} else {
		err = a.journal.Append(life, t.origin, said...)
	}
	if _, decided := e.(run.Decided); decided && err == nil {
		err = a.journal.Flush(ctx, t.job.Run) // on disk before the agent may act on it
	}
	t.behind = t.behind || err != nil
	return err
}

// meet keeps the first valid name that the agent gives the dialogue; the next turn hands it back (S4 session_id).
func (a *Admission) meet(ctx context.Context, t *turn, fact run.Fact) error {
	session := agentSession(fact.Payload)
	if session == "" || t.met {
		return nil
	}
	t.met = true
	t.origin.Scope.ThreadID = string(session)
	if session == t.job.AgentSession {
		return nil
	}
	return a.journal.KeepAgentSession(ctx, t.dialogue, string(session))
}

// end closes a turn whose process is over.
func (a *Admission) end(ctx, life context.Context, t *turn, exit Exit) error {
	if t.behind {
		if err := a.catchUp(ctx, t); err != nil {
			return err
		}
	}
	return a.close(ctx, t, t.outcome(life, exit))
}

// outcome decides how the run ends if the agent has not said so itself.
func (t *turn) outcome(life context.Context, exit Exit) run.Outcome {
	switch {
	case errors.Is(context.Cause(life), errCancelled):
		return run.Cancelled(exit.Gone)
	case stopped(life):
		return t.cut(event.EndedWithEdge)
	}
	return exit.Outcome
}

// cut is the end of a process that somebody else ended. What it has asked people outlives it (architecture 9).
func (t *turn) cut(why event.EndReason) run.Outcome {
	if pending := t.normaliser.Unheard(); len(pending) > 0 {
		return run.ProcessEnded(why, pending)
	}
	return run.Interrupted(why.Code())
}

// close writes the closings and the last event, unless the run has had it.
func (a *Admission) close(ctx context.Context, t *turn, o run.Outcome) error {
	last := t.normaliser.Close(o)
	if len(last) == 0 {
		return nil
	}
	if err := a.journal.Commit(ctx, t.origin, last...); err != nil {
		return fmt.Errorf("record end: %w", err)
	}
	return nil
}

// catchUp makes the normaliser agree with the journal again.
func (a *Admission) catchUp(ctx context.Context, t *turn) error {
	if err := a.journal.Flush(ctx, t.job.Run); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	events, err := a.journal.Events(ctx, t.job.Run)
	if err != nil {
		return err
	}
	restored, err := run.Restore(run.Options{}, events)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	t.normaliser = restored
	return nil
}

func stopped(life context.Context) bool { return life.Err() != nil }

// startError is what the run says about a start that failed.
func startError(err error) event.ErrorObj {
	var f *fault.Fault
	if errors.As(err, &f) {
		return event.ErrorObj{Code: f.Code, Message: f.Detail, Retryable: f.Code == fault.Busy}
	}
	return event.ErrorObj{Code: fault.StartFailed, Message: fmt.Sprintf("The agent could not be started: %v", err)}
}

func newNonce() Nonce {
	raw := make([]byte, 16)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	return Nonce(hex.EncodeToString(raw))
}
