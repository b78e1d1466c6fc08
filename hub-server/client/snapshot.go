package client

import (
	"context"
	"slices"
	"time"
)

const (
	maxQuestions = 4000 // in a snapshot
	listSize     = 200  // of conversations or questions on one page
	perSession   = 100  // messages of a conversation that was not heard of before
)

// snapshot tells by REST what a reset has hidden: messages, and how the runs stand that were under way. Of conversations that were not
// heard of before, only messages younger than since.
func (f *Feed) snapshot(ctx context.Context, since time.Time, tell func(Update) error) error {
	sessions, all, err := f.sessions(ctx, tell)
	if err != nil {
		return err
	}
	if f.options.Begin != BeginLive {
		if err := f.conversations(sessions, all, tell); err != nil {
			return err
		}
	}
	if err := f.missed(ctx, sessions, since, tell); err != nil {
		return err
	}
	if err := f.standing(ctx, tell); err != nil || f.options.Begin == BeginLive {
		return err
	}
	return f.questions(ctx, tell)
}

// missed tells what was said in conversations, in the order of time. One that is refused was left since they were listed.
func (f *Feed) missed(ctx context.Context, sessions []keptSession, since time.Time, tell func(Update) error) error {
	var missed []keptMessage
	for _, s := range sessions {
		messages, err := f.messages(ctx, s, since, tell)
		if err := forgivable(err); err != nil {
			return err
		}
		missed = append(missed, messages...)
	}
	slices.SortStableFunc(missed, func(a, b keptMessage) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, m := range missed {
		if err := f.add(HubWebSocketFrameTypeMessageNew, m.raw, tell); err != nil {
			return err
		}
	}
	return nil
}

// messages returns what was said in a conversation after what was told of it, or since a time if nothing was.
func (f *Feed) messages(ctx context.Context, s keptSession, since time.Time, tell func(Update) error) ([]keptMessage, error) {
	head, known := f.heads[s.ID]
	if known && head >= s.LastSeq || !known && s.UpdatedAt.Before(since) {
		return nil, nil
	}
	return f.unheard(ctx, s.ID, since, tell)
}

func (f *Feed) unheard(ctx context.Context, id SessionID, since time.Time, tell func(Update) error) ([]keptMessage, error) {
	if head, known := f.heads[id]; known {
		return f.after(ctx, id, head, tell)
	}
	return f.newest(ctx, id, since, tell)
}

// newest pages back to the first message that is not younger than since. Without a since, one page is enough; it tells that there are more.
func (f *Feed) newest(ctx context.Context, id SessionID, since time.Time, tell func(Update) error) ([]keptMessage, error) {
	var all []keptMessage
	query := ListMessagesParams{Limit: new(perSession)}
	for {
		page, err := ask(ctx, tell, func() (keptList[keptMessage, int64], error) {
			return Decode[keptList[keptMessage, int64]](f.api.ListMessages(ctx, id, &query))
		})
		if err != nil {
			return nil, err
		}
		young := slices.DeleteFunc(slices.Clone(page.Items), func(m keptMessage) bool { return m.CreatedAt.Before(since) })
		all = append(young, all...)
		switch {
		case page.Next == 0, len(young) < len(page.Items):
			return all, nil
		case since.IsZero():
			return all, tell(Update{Truncated: true, Session: id})
		}
		query.BeforeSeq = &page.Next
	}
}

func (f *Feed) after(ctx context.Context, id SessionID, head SeqID, tell func(Update) error) ([]keptMessage, error) {
	var all []keptMessage
	for {
		list, err := ask(ctx, tell, func() (keptList[keptMessage, int64], error) { return f.sync(ctx, id, head) })
		all = append(all, list.Items...)
		if err != nil || list.Next == 0 {
			return all, err
		}
		head = list.Next
	}
}

func (f *Feed) sync(ctx context.Context, id SessionID, after SeqID) (keptList[keptMessage, int64], error) {
	limit := pageSize
	list, err := Decode[keptList[keptMessage, int64]](f.api.SyncMessages(ctx, id, &SyncMessagesParams{AfterSeq: &after, Limit: &limit}))
	return list, err
}

// standing tells the rest of the runs that were under way, and how they ended if they have.
func (f *Feed) standing(ctx context.Context, tell func(Update) error) error {
	tasks := make([]RunID, 0, len(f.runs))
	for task := range f.runs {
		tasks = append(tasks, task)
	}
	slices.Sort(tasks)
	for _, task := range tasks {
		now, err := ask(ctx, tell, func() (AgentTask, error) {
			return Decode[AgentTask](f.api.GetAgentTask(ctx, task))
		})
		if err != nil {
			if err := forgivable(err); err != nil {
				return err
			}
			continue
		}
		about := runRef{Task: task, Agent: now.AgentID, Session: now.SessionID}
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
func (f *Feed) ended(t AgentTask, tell func(Update) error) error {
	switch t.State {
	case RunStateCompleted:
		return f.add(HubWebSocketFrameTypeAgentDone, AgentDonePayload{TaskID: t.ID, AgentInstanceID: t.AgentID, SessionID: t.SessionID}, tell)
	case RunStateCancelled:
		return f.add(HubWebSocketFrameTypeAgentCancel, AgentCancelPayload{TaskID: t.ID, AgentInstanceID: t.AgentID, SessionID: t.SessionID}, tell)
	case RunStateFailed, RunStateInterrupted:
		return f.add(HubWebSocketFrameTypeAgentFailed, AgentFailedPayload{TaskID: t.ID, AgentInstanceID: t.AgentID, SessionID: t.SessionID, Error: t.Error}, tell)
	}
	return nil
}

// conversations tells those that are, and, if these are all, forgets those that are no more for this user.
func (f *Feed) conversations(sessions []keptSession, all bool, tell func(Update) error) error {
	keep := make(map[string]bool, len(sessions))
	for _, s := range sessions {
		keep[s.ID] = true
		created, err := s.created()
		if err != nil {
			return err
		}
		if err := f.add(HubWebSocketFrameTypeSessionCreated, created, tell); err != nil {
			return err
		}
	}
	switch {
	case f.options.Session != "":
		return nil
	case !all:
		return tell(Update{Truncated: true})
	}
	f.reducer.retain("session", keep)
	return nil
}

// questions tells those that are open, and how those stand that were open by what was told before.
func (f *Feed) questions(ctx context.Context, tell func(Update) error) error {
	open, state := map[RequestID]bool{}, PromptStatePending
	list, err := pages(maxQuestions, func(after *string) ([]keptPrompt, string, error) {
		list, err := ask(ctx, tell, func() (keptList[keptPrompt, string], error) {
			return Decode[keptList[keptPrompt, string]](f.api.ListPrompts(ctx, &ListPromptsParams{State: &state, Limit: new(listSize), After: after}))
		})
		return list.Items, list.Next, err
	})
	if err != nil {
		return forgivable(err)
	}
	for _, p := range list {
		open[p.RequestID] = true
	}
	for _, known := range f.reducer.openQuestions() {
		if open[known.RequestID] {
			continue
		}
		now, err := ask(ctx, tell, func() (keptPrompt, error) {
			return Decode[keptPrompt](f.api.GetPrompt(ctx, known.TaskID, known.RequestID))
		})
		if err == nil {
			list = append(list, now)
		} else if err := forgivable(err); err != nil {
			return err
		}
	}
	for _, p := range list {
		if f.options.Session != "" && p.SessionID != f.options.Session {
			continue
		}
		if err := f.question(p, tell); err != nil {
			return err
		}
	}
	return nil
}

// question tells how a question stands, as the hub's frame would.
func (f *Feed) question(p keptPrompt, tell func(Update) error) error {
	return f.add(HubWebSocketFrameTypeNotificationNew, NotificationPayload{
		ID: p.RequestID, Type: NotificationPayloadTypePrompt, Payload: p.raw, Read: p.State != PromptStatePending, CreatedAt: p.AskedAt,
	}, tell)
}

// pages collects up to limit items of a list.
func pages[T any](limit int, page func(after *string) ([]T, string, error)) ([]T, error) {
	var all []T
	var after *string
	for len(all) < limit {
		items, next, err := page(after)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if next == "" {
			break
		}
		after = &next
	}
	return all[:min(limit, len(all))], nil
}
