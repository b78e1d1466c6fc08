package live

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/lookup"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

const (
	pageSize    = 500 // events or messages
	askAgain    = 500 * time.Millisecond
	maxSessions = 4000 // in a snapshot
	perSession  = 100
)

// fill tells the events of a run that lie before a frame which is not the next one. A run that was under way when an earlier process of
// this device was cut off goes on from here: its beginning was told then.
func (f *Feed) fill(ctx context.Context, about run, frame client.HubWebSocketFrame, tell func(Update) error) error {
	var at struct {
		Seq int64 `json:"event_seq"`
	}
	if err := json.Unmarshal(frame.Payload, &at); err != nil {
		return nil //nolint:nilerr // the reducer will ignore the frame
	}
	if !f.resumed || f.reducer.Watermark(about.Task) > 0 {
		if err := f.events(ctx, about, tell); err != nil {
			return err
		}
	}
	if f.reducer.Watermark(about.Task) < at.Seq-1 {
		f.reducer.Begin(about.Task, at.Seq-1)
	}
	return nil
}

// events tells what the record has of a run beyond what was told. While it tells a page it fetches the next one: after an hour's sleep there
// are many.
func (f *Feed) events(ctx context.Context, about run, tell func(Update) error) error {
	page, err := f.log(ctx, about.Task, f.reducer.Watermark(about.Task))
	for err == nil && len(page.Items) > 0 {
		var ahead client.RunEventList
		fetching := supervise.NewGroup(ctx)
		if after := page.Next; after != 0 {
			fetching.Go(func(ctx context.Context) (err error) {
				ahead, err = f.log(ctx, about.Task, after)
				return err
			})
		}
		if err := f.addAll(about, page.Items, tell); err != nil {
			fetching.Cancel()
			return errors.Join(err, fetching.Wait())
		}
		err, page = fetching.Wait(), ahead
	}
	return forgivable(err)
}

func (f *Feed) addAll(about run, events []client.RunEvent, tell func(Update) error) error {
	for _, e := range events {
		if err := f.add(client.HubWebSocketFrameTypeAgentStream, streamPayload(about, e), tell); err != nil {
			return err
		}
	}
	return nil
}

func (f *Feed) log(ctx context.Context, task client.RunID, after int64) (client.RunEventList, error) {
	limit := pageSize
	return ask(ctx, func() (client.RunEventList, error) {
		return client.Decode[client.RunEventList](f.api.ListAgentTaskEvents(ctx, task, &client.ListAgentTaskEventsParams{AfterSeq: &after, Limit: &limit}))
	})
}

func streamPayload(about run, e client.RunEvent) client.AgentStreamPayload {
	return client.AgentStreamPayload{
		ID: e.ID, TaskID: about.Task, SessionID: about.Session, AgentInstanceID: about.Agent, EventSeq: e.EventSeq, EventType: e.WireType,
		Payload: string(e.Payload), CreatedAt: e.RecordedAt, Late: e.Late, TraceID: "trace_" + e.TraceID,
	}
}

// snapshot tells by REST what a reset has hidden: messages, and how the runs stand that were under way. Of conversations that were not
// heard of before, only messages younger than since.
func (f *Feed) snapshot(ctx context.Context, since time.Time, tell func(Update) error) error {
	sessions, err := f.sessions(ctx)
	if err != nil {
		return forgivable(err)
	}
	var missed []client.Message
	for _, s := range sessions {
		messages, err := f.messages(ctx, s, since)
		if err != nil {
			return forgivable(err)
		}
		missed = append(missed, messages...)
	}
	slices.SortStableFunc(missed, func(a, b client.Message) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, m := range missed {
		if err := f.add(client.HubWebSocketFrameTypeMessageNew, m, tell); err != nil {
			return err
		}
	}
	return f.standing(ctx, tell)
}

// sessions lists the conversations that this feed is about.
func (f *Feed) sessions(ctx context.Context) ([]client.Session, error) {
	all, err := ask(ctx, func() ([]client.Session, error) { return lookup.New(f.api).Sessions(ctx, maxSessions) })
	return slices.DeleteFunc(all, func(s client.Session) bool { return f.options.Session != "" && f.options.Session != s.ID }), err
}

// messages returns what was said in a conversation after what was told of it, or since a time if nothing was.
func (f *Feed) messages(ctx context.Context, s client.Session, since time.Time) ([]client.Message, error) {
	head, known := f.heads[s.ID]
	if known && head >= s.LastSeq || !known && s.UpdatedAt.Before(since) {
		return nil, nil
	}
	if !known {
		list, err := ask(ctx, func() (client.MessageList, error) { return f.newest(ctx, s.ID) })
		return slices.DeleteFunc(list.Items, func(m client.Message) bool { return m.CreatedAt.Before(since) }), err
	}
	var all []client.Message
	for {
		list, err := ask(ctx, func() (client.MessageList, error) { return f.sync(ctx, s.ID, head) })
		all = append(all, list.Items...)
		if err != nil || list.Next == 0 {
			return all, err
		}
		head = list.Next
	}
}

func (f *Feed) newest(ctx context.Context, id client.SessionID) (client.MessageList, error) {
	limit := perSession
	list, err := client.Decode[client.MessageList](f.api.ListMessages(ctx, id, &client.ListMessagesParams{Limit: &limit}))
	return list, err
}

func (f *Feed) sync(ctx context.Context, id client.SessionID, after client.SeqID) (client.MessageList, error) {
	limit := pageSize
	list, err := client.Decode[client.MessageList](f.api.SyncMessages(ctx, id, &client.SyncMessagesParams{AfterSeq: &after, Limit: &limit}))
	return list, err
}

// standing tells the rest of the runs that were under way, and how they ended if they have.
func (f *Feed) standing(ctx context.Context, tell func(Update) error) error {
	tasks := make([]client.RunID, 0, len(f.runs))
	for task := range f.runs {
		tasks = append(tasks, task)
	}
	slices.Sort(tasks)
	for _, task := range tasks {
		now, err := ask(ctx, func() (client.AgentTask, error) {
			return client.Decode[client.AgentTask](f.api.GetAgentTask(ctx, task))
		})
		if err != nil {
			if err := forgivable(err); err != nil {
				return err
			}
			continue
		}
		about := run{Task: task, Agent: now.AgentID, Session: now.SessionID}
		if err := f.events(ctx, about, tell); err != nil {
			return err
		}
		if err := f.ended(now, tell); err != nil {
			return err
		}
	}
	return nil
}

// ended tells the frame that the run's state stands for; nothing while it is under way.
func (f *Feed) ended(t client.AgentTask, tell func(Update) error) error {
	switch t.State {
	case client.RunStateCompleted:
		return f.add(client.HubWebSocketFrameTypeAgentDone, client.AgentDonePayload{TaskID: t.ID, AgentInstanceID: t.AgentID, SessionID: t.SessionID}, tell)
	case client.RunStateCancelled:
		return f.add(client.HubWebSocketFrameTypeAgentCancel, client.AgentCancelPayload{TaskID: t.ID, AgentInstanceID: t.AgentID, SessionID: t.SessionID}, tell)
	case client.RunStateFailed, client.RunStateInterrupted:
		return f.add(client.HubWebSocketFrameTypeAgentFailed, client.AgentFailedPayload{TaskID: t.ID, AgentInstanceID: t.AgentID, SessionID: t.SessionID, Error: t.Error}, tell)
	}
	return nil
}

// ask asks until the hub answers: the socket stands or will stand again, so a refusal of the moment is no reason to leave a hole.
func ask[T any](ctx context.Context, call func() (T, error)) (T, error) {
	for {
		answer, err := call()
		var problem *client.ProblemError
		busy := errors.Is(err, client.ErrUnreachable) ||
			(errors.As(err, &problem) && (problem.Status >= 500 || problem.Status == http.StatusTooManyRequests))
		if !busy {
			return answer, err
		}
		wait := time.NewTimer(askAgain)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return answer, ctx.Err()
		}
	}
}

// forgivable drops a hub's refusal: what it does not give, a conversation that was left or a run that was removed, cannot be told.
func forgivable(err error) error {
	var problem *client.ProblemError
	if errors.As(err, &problem) {
		return nil
	}
	return err
}
