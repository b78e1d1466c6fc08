package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// CreateAgentTask implements createAgentTask.
func (h handlers) CreateAgentTask(ctx context.Context, r CreateAgentTaskRequestObject) (CreateAgentTaskResponseObject, error) {
	attempt, err := attemptOf(ctx, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	task, err := newTask(ctx, *r.Body)
	if err != nil {
		return nil, err
	}
	started, err := h.Messages.StartTask(ctx, caller(ctx), task, attempt)
	if err != nil {
		return nil, err
	}
	return CreateAgentTask201JSONResponse(renderRun(started)), nil
}

func newTask(ctx context.Context, b AgentTaskInput) (chat.NewTask, error) {
	session, err := bodyID("session_id", id.ParseSession, b.SessionID)
	if err != nil {
		return chat.NewTask{}, err
	}
	agent, err := bodyID("agent_id", id.ParseAgent, b.AgentID)
	if err != nil {
		return chat.NewTask{}, err
	}
	trigger, err := optionalID("trigger_message_id", id.ParseMessage, b.TriggerMessageID)
	return chat.NewTask{
		Session: session, Agent: agent, Prompt: b.Prompt, Attachments: mapAll(b.Attachments, readAttachment), Trigger: trigger,
		TraceID: traceOf(ctx),
	}, err
}

// CreateRun implements createRun. What is kept for a repeat is the run, so the answer is the same whatever became of it.
func (h handlers) CreateRun(ctx context.Context, r CreateRunRequestObject) (CreateRunResponseObject, error) {
	attempt, err := attemptOf(ctx, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	task, err := newRun(ctx, id.Session(r.SessionID), *r.Body)
	if err != nil {
		return nil, err
	}
	started, err := h.Messages.StartTask(ctx, caller(ctx), task, attempt)
	if err != nil {
		return nil, hide(err)
	}
	return CreateRun202JSONResponse(receiptOf(started)), nil
}

func receiptOf(started runlog.Run) RunReceipt {
	return RunReceipt{
		MessageID: MessageID(started.Trigger), RunID: RunID(started.ID), EventsURL: eventsURL(started.ID),
		AgentID: AgentID(started.Agent), AgentName: started.AgentName,
	}
}

func newRun(ctx context.Context, session id.Session, b RunInput) (chat.NewTask, error) {
	agent, err := optionalID("agent_id", id.ParseAgent, b.AgentID)
	if err != nil {
		return chat.NewTask{}, err
	}
	trigger, err := optionalID("trigger_message_id", id.ParseMessage, b.TriggerMessageID)
	return chat.NewTask{
		Session: session, Agent: agent, Prompt: b.Prompt, Attachments: mapAll(b.Attachments, readAttachment), Trigger: trigger,
		TraceID: traceOf(ctx),
	}, err
}

// eventsURL is where a run is followed.
func eventsURL(run id.Run) EventsURL { return "/api/agent-runs/" + EventsURL(run) + "/events" }

// ListAgentTasks implements listAgentTasks. The mark of the next page is the last run of this one.
func (h handlers) ListAgentTasks(ctx context.Context, r ListAgentTasksRequestObject) (ListAgentTasksResponseObject, error) {
	query, err := runQuery(caller(ctx).User, r.Params)
	if err != nil {
		return nil, err
	}
	limit := query.Limit
	if query.Limit < runlog.MaxRuns {
		query.Limit++ // one more says whether there is another page
	}
	runs, err := h.Runs.List(ctx, query)
	if err != nil {
		return nil, err
	}
	page := ListAgentTasks200JSONResponse{Items: mapAll(runs[:min(len(runs), limit)], renderRun)}
	if len(runs) > limit || len(runs) == runlog.MaxRuns {
		page.Next = PageToken(runs[limit-1].ID)
	}
	return page, nil
}

func runQuery(member id.User, p ListAgentTasksParams) (q runlog.Query, err error) {
	q.Member = member
	if q.Limit, err = pageLimit(p.Limit, 50, runlog.MaxRuns); err != nil {
		return q, err
	}
	if q.Session, err = optionalID("session_id", id.ParseSession, valueOf(p.SessionID)); err != nil {
		return q, err
	}
	if q.Agent, err = optionalID("agent_id", id.ParseAgent, valueOf(p.AgentID)); err != nil {
		return q, err
	}
	if q.Before, err = id.ParseRun(valueOf(p.After)); err != nil && p.After != nil {
		return q, fault.New(fault.CursorInvalid, "after is not the next of a page of this list. Begin with the first page.")
	}
	if p.State == nil {
		return q, nil
	}
	if q.State, err = run.ParseState(string(*p.State)); err != nil {
		return q, fault.Wrap(err, fault.InvalidRequest, "state is not a state of a run.")
	}
	return q, nil
}

// GetAgentTask implements getAgentTask.
func (h handlers) GetAgentTask(ctx context.Context, r GetAgentTaskRequestObject) (GetAgentTaskResponseObject, error) {
	found, err := h.Runs.Get(ctx, id.Run(r.TaskID))
	if err != nil {
		return nil, hide(err)
	}
	return GetAgentTask200JSONResponse(renderRun(found)), nil
}

// CancelAgentTask implements cancelAgentTask. A run that has ended otherwise is answered as it is.
func (h handlers) CancelAgentTask(ctx context.Context, r CancelAgentTaskRequestObject) (CancelAgentTaskResponseObject, error) {
	task, stop := id.Run(r.TaskID), h.Runs.Cancel
	if r.Body != nil && r.Body.Force {
		stop = h.Runs.Force
	}
	found, err := stop(ctx, task, caller(ctx).User)
	if fault.CodeOf(err) == fault.RunEnded {
		found, err = h.Runs.Get(ctx, task)
	}
	if err != nil {
		return nil, hide(err)
	}
	return CancelAgentTask202JSONResponse(renderRun(found)), nil
}

// RegenerateAgentTask implements regenerateAgentTask.
func (h handlers) RegenerateAgentTask(
	ctx context.Context, r RegenerateAgentTaskRequestObject,
) (RegenerateAgentTaskResponseObject, error) {
	attempt, err := attemptOf(ctx, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	earlier, err := h.Runs.Get(ctx, id.Run(r.TaskID))
	if err != nil {
		return nil, hide(err)
	}
	started, err := h.Messages.Regenerate(ctx, caller(ctx), earlier, traceOf(ctx), attempt)
	if err != nil {
		return nil, hide(err)
	}
	return RegenerateAgentTask202JSONResponse(receiptOf(started)), nil
}

// ListAgentTaskEvents implements listAgentTaskEvents.
func (h handlers) ListAgentTaskEvents(
	ctx context.Context, r ListAgentTaskEventsRequestObject,
) (ListAgentTaskEventsResponseObject, error) {
	limit, err := pageLimit(r.Params.Limit, 100, runlog.MaxEvents)
	if err != nil {
		return nil, err
	}
	after, err := sequence("after_seq", r.Params.AfterSeq, 0)
	if err != nil {
		return nil, err
	}
	page, err := h.Runs.Events(ctx, id.Run(r.TaskID), runlog.EventSeq(after), limit)
	if err != nil {
		return nil, hide(err)
	}
	if err := h.sightOf(ctx).adapt(ctx, page.Events); err != nil {
		return nil, err
	}
	return eventPage(page), nil
}

func renderRun(r runlog.Run) AgentTask {
	task := AgentTask{
		ID: RunID(r.ID), EventsURL: eventsURL(r.ID), SessionID: SessionID(r.Session), AgentID: AgentID(r.Agent), EdgeID: EdgeID(r.Edge), State: RunState(r.State),
		WaitsFor: r.WaitsFor, Unknown: r.Unknown, TriggerMessageID: MessageID(r.Trigger), RequestedBy: UserID(r.RequestedBy), ParentRunID: RunID(r.Parent),
		RootRunID: RunID(r.Root), ContinuesRunID: RunID(r.Continues), ContinuedByRunID: RunID(r.ContinuedBy),
		RegeneratesRunID: RunID(r.Regenerates),
		LastEventSeq:     int64(r.LastEventSeq), ArchivedThrough: int64(r.Floor), FinalMessageID: MessageID(r.FinalMessage), TraceID: r.TraceID,
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
	}
	if r.Error != nil {
		task.Error = RunError{Code: string(r.Error.Code), Message: r.Error.Message}
	}
	return task
}
