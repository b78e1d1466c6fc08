package client

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/switchyard-dev/switchyard/shared/supervise"
)

const pageSize = 500 // events or messages

// fill tells the events of a run that lie before a frame which is not the next one. A run that was under way when an earlier process of
// this device was cut off goes on from here: its beginning was told then.
func (f *Feed) fill(ctx context.Context, about runRef, frame HubWebSocketFrame, tell func(Update) error) error {
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
func (f *Feed) events(ctx context.Context, about runRef, tell func(Update) error) error {
	page, err := f.log(ctx, about.Task, f.reducer.Watermark(about.Task), tell)
	for err == nil && len(page.Items) > 0 {
		var ahead RunEventList
		fetching := supervise.NewGroup(ctx)
		after := page.Next
		if after != 0 {
			fetching.Go(func(ctx context.Context) (err error) {
				ahead, err = f.logPage(ctx, about.Task, after)
				return err
			})
		}
		if err := f.addAll(about, page.Items, tell); err != nil {
			fetching.Cancel()
			return errors.Join(err, fetching.Wait())
		}
		if err, page = fetching.Wait(), ahead; err != nil {
			page, err = f.log(ctx, about.Task, after, tell)
		}
	}
	return forgivable(err)
}

func (f *Feed) addAll(about runRef, events []RunEvent, tell func(Update) error) error {
	for _, e := range events {
		if err := f.add(HubWebSocketFrameTypeAgentStream, streamPayload(about, e), tell); err != nil {
			return err
		}
	}
	return nil
}

func (f *Feed) log(ctx context.Context, task RunID, after int64, tell func(Update) error) (RunEventList, error) {
	return ask(ctx, tell, func() (RunEventList, error) { return f.logPage(ctx, task, after) })
}

func (f *Feed) logPage(ctx context.Context, task RunID, after int64) (RunEventList, error) {
	limit := pageSize
	page, err := list[RunEvent, int64](f.api.ListAgentTaskEvents(ctx, task, &ListAgentTaskEventsParams{AfterSeq: &after, Limit: &limit}))
	return RunEventList{Items: page.Items, Next: page.Next}, err
}

func streamPayload(about runRef, e RunEvent) AgentStreamPayload {
	return AgentStreamPayload{
		ID: e.ID, TaskID: about.Task, SessionID: about.Session, AgentInstanceID: about.Agent, EventSeq: e.EventSeq, EventType: e.WireType,
		Payload: string(e.Payload), CreatedAt: e.RecordedAt, Late: e.Late, TraceID: "trace_" + e.TraceID,
	}
}
