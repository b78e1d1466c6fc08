package client

import (
	"context"
	"slices"
	"time"
)

const (
	maxQuestions = 4000 // in a snapshot
	listSize     = 200  // of conversations or questions on one page
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
	if err := f.questions(ctx, f.options.Session, tell); err != nil {
		return err
	}
	if err := f.notices(ctx, tell); err != nil {
		return err
	}
	return f.friends(ctx, tell)
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
			found, err := Decode[AgentTask](f.api.GetAgentTask(ctx, task))
			return found, meant(err, found.ID == task)
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
		if err := f.conversation(s, tell); err != nil {
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

// conversation tells how one stands, and how far its people have read.
func (f *Feed) conversation(s keptSession, tell func(Update) error) error {
	created, err := s.created()
	if err != nil {
		return err
	}
	if err := f.add(HubWebSocketFrameTypeSessionCreated, created, tell); err != nil {
		return err
	}
	if err := f.readMarks(s, tell); err != nil || s.DissolvedAt.IsZero() {
		return err
	}
	return f.add(HubWebSocketFrameTypeSessionDissolved, SessionDissolvedPayload{SessionID: s.ID, DissolvedAt: s.DissolvedAt}, tell)
}

// readMarks tells how far the people of a conversation have read, and how much this user has not.
func (f *Feed) readMarks(s keptSession, tell func(Update) error) error {
	me := f.reducer.me
	if me != "" {
		own, err := s.reading(me)
		if err != nil {
			return err
		}
		if err := f.add(HubWebSocketFrameTypeMessageRead, own, tell); err != nil {
			return err
		}
	}
	for _, mark := range s.ReadMarks {
		if mark.UserID == me {
			continue
		}
		read := ReadMark{SessionID: s.ID, UserID: mark.UserID, LastReadSeq: mark.LastReadSeq}
		if err := f.add(HubWebSocketFrameTypeMessageRead, read, tell); err != nil {
			return err
		}
	}
	return nil
}

// questions tells those that are open in a conversation, in all if it is "", and how those stand that were open by what was told before. One that this
// user may not read any more is forgotten.
func (f *Feed) questions(ctx context.Context, in SessionID, tell func(Update) error) error {
	open, state := map[RequestID]bool{}, PromptStatePending
	found, err := pages(maxQuestions, func(after *string) ([]keptPrompt, string, error) {
		page, err := ask(ctx, tell, func() (keptList[keptPrompt, string], error) {
			return list[keptPrompt, string](f.api.ListPrompts(ctx, &ListPromptsParams{State: &state, Limit: new(listSize), After: after}))
		})
		return page.Items, page.Next, err
	})
	if err != nil {
		return forgivable(err)
	}
	for _, p := range found {
		open[p.RequestID] = true
	}
	for _, known := range f.reducer.openQuestions() {
		if open[known.RequestID] || in != "" && in != known.SessionID {
			continue
		}
		now, err := ask(ctx, tell, func() (keptPrompt, error) {
			found, err := Decode[keptPrompt](f.api.GetPrompt(ctx, known.TaskID, known.RequestID))
			return found, meant(err, found.RequestID == known.RequestID)
		})
		switch {
		case err == nil:
			found = append(found, now)
		case refused(err):
			delete(f.reducer.records, recordKey(notified, known.RequestID))
		default:
			return err
		}
	}
	for _, p := range found {
		if in != "" && p.SessionID != in {
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
