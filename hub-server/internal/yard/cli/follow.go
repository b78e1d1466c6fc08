package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/talk"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// impatient is how long a run may show no sign of life before a person is told what is waited for.
const impatient = 2 * time.Second

// following is a message that is followed to the end of its runs.
type following struct {
	s       *session
	l       *line
	v       *voice
	deliver delivery
	letter  talk.Letter
	feed    *client.Feed

	made    bool                      // the conversation is new
	receipt client.MessageReceipt     // of the message, once it is sent
	tasks   []client.AgentTask        // the runs that it started and those in which they went on, once they have ended
	said    map[client.MessageID]bool // messages that were told

	mu     sync.Mutex
	silent map[client.RunID]bool // runs that have shown no sign of life
}

// delivery makes the hub begin: it returns what to follow, and what programs are told of the hub's answer.
type delivery func(ctx context.Context, letter *talk.Letter) (client.MessageReceipt, any, error)

// follow connects first and sends then, so that this device sees everything that the message causes.
func (s *session) follow(l *line, letter talk.Letter, deliver delivery) error {
	f := &following{
		s: s, l: l, v: s.voice(l), deliver: deliver, letter: letter, feed: l.as.Feed(&glance{device: l.device}, client.FeedOptions{Begin: client.BeginLive}),
		made: letter.Session.ID == "", said: map[client.MessageID]bool{}, silent: map[client.RunID]bool{},
	}
	f.v.quiet = true
	group := supervise.NewGroup(s.ctx)
	group.Go(func(ctx context.Context) error {
		defer group.Cancel()
		return f.run(ctx)
	})
	group.Go(f.reassure)
	err := errors.Join(group.Wait(), f.v.close())
	if runs := f.receipt.TaskIds; s.ctx.Err() != nil && len(runs) > 0 && len(f.tasks) == 0 {
		err = errors.Join(err, f.v.notice(fmt.Sprintf("%s goes on without being watched; `yard cancel %s` stops it", runs[0], runs[0])))
	}
	return err
}

func (f *following) run(ctx context.Context) error {
	sent := false
	for u, err := range f.feed.Follow(ctx) {
		if err != nil {
			return err
		}
		if u.Link == client.LinkDown && !sent {
			return u.Err
		}
		if err := f.tell(u); err != nil {
			return err
		}
		if u.Link == client.LinkUp && !sent {
			sent = true
			if err := f.send(ctx); err != nil {
				return err
			}
		}
		if over, err := f.over(ctx, sent); over || err != nil {
			return errors.Join(err, f.outcome())
		}
	}
	return ctx.Err()
}

// send sends the message and notes which runs to wait for.
func (f *following) send(ctx context.Context) error {
	receipt, answer, err := f.deliver(ctx, &f.letter)
	if err != nil {
		return err
	}
	f.receipt = receipt
	f.mu.Lock()
	for _, run := range receipt.TaskIds {
		f.silent[run] = true
	}
	f.mu.Unlock()
	for _, run := range receipt.TaskIds {
		f.feed.Track(run, f.letter.Session.ID)
	}
	return f.v.line(struct {
		Receipt any `json:"receipt"`
	}{answer})
}

// subject is what a frame is about.
type subject struct {
	Session client.SessionID `json:"session_id"`
	Task    client.RunID     `json:"task_id"`
	ID      string           `json:"id"`
	Seq     client.SeqID     `json:"seq_id"`
}

// tell tells an update if the message is its cause; as JSON, everything.
func (f *following) tell(u client.Update) error {
	if u.Frame == nil || u.Link != "" {
		return f.v.update(u)
	}
	var about subject
	if err := json.Unmarshal(u.Frame.Payload, &about); err != nil {
		return f.v.update(u)
	}
	if u.Frame.Type != client.HubWebSocketFrameTypeAgentDispatch {
		f.mu.Lock()
		delete(f.silent, about.Task)
		f.mu.Unlock()
	}
	if u.Frame.Type == client.HubWebSocketFrameTypeMessageNew {
		f.said[about.ID] = true
	}
	if !f.s.json && !f.caused(u.Frame.Type, about) {
		return nil
	}
	return f.v.update(u)
}

// caused says whether a frame tells of the message that was sent, or of what came of it. A device that was away is told more than that.
func (f *following) caused(t client.HubWebSocketFrameType, about subject) bool {
	switch {
	case about.Session != f.letter.Session.ID || f.receipt.MessageID == "":
		return false
	case t == client.HubWebSocketFrameTypeMessageNew:
		return about.Seq >= f.receipt.SeqID
	case about.Task != "":
		return slices.Contains(f.receipt.TaskIds, about.Task)
	}
	return f.made
}

// reassure tells what is waited for while a run shows no sign of life.
func (f *following) reassure(ctx context.Context) error {
	told := ""
	for wait := time.NewTicker(impatient); ; {
		select {
		case <-ctx.Done():
			wait.Stop()
			return nil
		case <-wait.C:
		}
		run, waiting := f.waiting()
		if !waiting {
			continue
		}
		task, err := client.Decode[client.AgentTask](f.l.API().GetAgentTask(ctx, run))
		if err != nil {
			continue // the stream tells about a lost hub
		}
		text := f.reason(task)
		if text == told {
			continue
		}
		told = text
		if err := f.v.notice(text); err != nil {
			return err
		}
	}
}

func (f *following) waiting() (client.RunID, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for run := range f.silent {
		return run, true
	}
	return "", false
}

func (f *following) reason(task client.AgentTask) string {
	agent := task.AgentID
	for _, a := range f.letter.Agents {
		if a.ID == task.AgentID {
			agent = a.Name
		}
	}
	switch task.State {
	case client.RunStateWaitingEdge, client.RunStateDispatched:
		if task.WaitsFor != "" {
			return fmt.Sprintf("%s waits: %s", agent, task.WaitsFor)
		}
	}
	switch task.State {
	case client.RunStateWaitingPerson:
		return fmt.Sprintf("%s waits for an answer; `yard prompts` shows to what", agent)
	case client.RunStateWaitingEdge:
		return fmt.Sprintf("waiting for an edge that can run %s; `yard edges` shows which are online", agent)
	case client.RunStateQueued, client.RunStateDispatched:
		return fmt.Sprintf("%s has the message; waiting for the agent to start", agent)
	}
	return fmt.Sprintf("%s is %s", agent, task.State)
}
