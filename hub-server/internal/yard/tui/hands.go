package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/board"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/lookup"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/talk"
)

const (
	maxSessions = 4000 // conversations of the list
	pageSize    = 50   // messages
	recentRuns  = 20   // of a conversation, among which those under way are looked for
	logTail     = 300  // events of a run that is under way
	maxHits     = 50   // messages that a search finds
	maxWaiting  = 64   // things to do that wait for the one before
)

// outcome is what came of an effect, told to the board in its own turn.
type outcome func(*board.Board) []board.Effect

// hands do what the board wants done, over REST.
type hands struct {
	hub   *client.Client
	api   client.ClientInterface
	queue chan board.Effect
}

func newHands(hub *client.Client) *hands {
	return &hands{hub: hub, api: hub.API(), queue: make(chan board.Effect, maxWaiting)}
}

// Run does what changes something, one after the other, so that two messages arrive in the order in which they were typed.
func (h *hands) Run(ctx context.Context, tell func(outcome)) error {
	for {
		select {
		case e := <-h.queue:
			tell(h.change(ctx, e))
		case <-ctx.Done():
			return nil
		}
	}
}

// take queues an effect; false if too much waits already.
func (h *hands) take(e board.Effect) bool {
	select {
	case h.queue <- e:
		return true
	default:
		return false
	}
}

// change does something, and returns what came of it.
func (h *hands) change(ctx context.Context, e board.Effect) outcome {
	switch e := e.(type) {
	case board.Send:
		err := h.send(ctx, &e)
		return func(b *board.Board) []board.Effect { b.Sent(e, err); return nil }
	case board.Answer:
		_, err := client.Decode[client.Prompt](h.api.AnswerPrompt(ctx, e.Run, e.Request, e.Input))
		return func(b *board.Board) []board.Effect { b.Answered(e.Request, err); return nil }
	case board.Edit:
		return failed("not edited", h.edit(ctx, e))
	case board.Recall:
		_, err := client.Decode[client.Message](h.api.RecallMessage(ctx, e.Message))
		return failed("not taken back", err)
	case board.React:
		return failed("no reaction", h.react(ctx, e))
	case board.Pin:
		return failed("not pinned", h.pin(ctx, e))
	case board.Act:
		said, err := h.act(ctx, e)
		return func(b *board.Board) []board.Effect { b.Acted(e, said, err); return nil }
	case board.Cancel:
		_, err := client.Decode[client.AgentTask](h.api.CancelAgentTask(ctx, e.Run, client.CancelInput{}))
		return failed("not stopped", err)
	}
	return failed("not done", fmt.Errorf("%T is nothing that can be done", e))
}

// failed tells an error, if there is one; what went well is seen when the hub tells it.
func failed(what string, err error) outcome {
	return func(b *board.Board) []board.Effect {
		if err != nil {
			b.Fail(what, err)
		}
		return nil
	}
}

// send sends a message, and notes the id that it has.
func (h *hands) send(ctx context.Context, e *board.Send) error {
	talker := talk.New(h.api)
	letter, err := talker.Prepare(ctx, e.Session, e.Text, nil, false)
	if err != nil {
		return err
	}
	letter.ReplyTo = e.ReplyTo
	letter.ID = cmp.Or(e.ID, letter.ID)
	e.ID = letter.ID
	_, err = talker.Deliver(ctx, &letter)
	return err
}

func (h *hands) edit(ctx context.Context, e board.Edit) error {
	content, err := json.Marshal(map[string]string{"text": e.Text})
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	_, err = client.Decode[client.Message](h.api.EditMessage(ctx, e.Message, client.MessageEdit{Content: content}))
	return err
}

func (h *hands) react(ctx context.Context, e board.React) error {
	if e.Off {
		_, err := client.Decode[client.Nothing](h.api.RemoveReaction(ctx, e.Message, &client.RemoveReactionParams{Reaction: e.Reaction}))
		return err
	}
	_, err := client.Decode[client.ReactionList](h.api.AddReaction(ctx, e.Message, client.ReactionInput{Reaction: e.Reaction}))
	return err
}

func (h *hands) pin(ctx context.Context, e board.Pin) error {
	if e.Off {
		_, err := client.Decode[client.Nothing](h.api.UnpinMessage(ctx, e.Message))
		return err
	}
	_, err := client.Decode[client.MessagePinPayload](h.api.PinMessage(ctx, e.Message))
	return err
}

// act does something to what is at work, and says what came of it.
func (h *hands) act(ctx context.Context, e board.Act) (said string, err error) {
	switch e.What {
	case board.Steer:
		_, err = talk.New(h.api).Steer(ctx, e.Session, e.Text)
		return "said; the agent takes it before its next request", err
	case board.Retry:
		got, err := client.Decode[client.OmniRetryReceipt](h.api.RetryOmniNow(ctx, e.Session))
		if err == nil && !got.Skipped {
			return "no agent waits before it tries again", nil
		}
		return "it tries again now", err
	case board.Compact:
		_, err = client.Decode[client.OmniCompactReceipt](h.api.CompactOmniSession(ctx, e.Session))
		return "the context is being made smaller", err
	case board.Abort:
		_, err = client.Decode[client.Nothing](h.api.AbortOmniTasks(ctx, e.Session, client.OmniAbortInput{}))
		return "it is being stopped", err
	}
	return "", fmt.Errorf("%q is nothing that can be done", e.What)
}

// list reads all conversations.
func (h *hands) list(ctx context.Context) outcome {
	all, err := lookup.New(h.api).Sessions(ctx, maxSessions)
	return func(b *board.Board) []board.Effect {
		if err != nil {
			b.Fail("conversations", err)
			return nil
		}
		return b.Listed(all)
	}
}

// search looks for messages, the newest first.
func (h *hands) search(ctx context.Context, e board.Search) outcome {
	var all []client.Message
	var failure error
	for m, err := range h.hub.Search(ctx, e.Words, e.Session) {
		if err != nil {
			failure = err
			break
		}
		if all = append(all, m); len(all) >= maxHits {
			break
		}
	}
	return func(b *board.Board) []board.Effect { b.Found(e, all, failure); return nil }
}

// mark moves a read mark.
func (h *hands) mark(ctx context.Context, e board.MarkRead) outcome {
	_, err := client.Decode[client.ReadMark](h.api.MarkRead(ctx, e.Session, client.ReadMarkInput{LastReadSeq: e.Seq}))
	return func(b *board.Board) []board.Effect { return b.Marked(e, err) }
}

// fetch reads a page of messages, and with the newest one the runs that are under way.
func (h *hands) fetch(ctx context.Context, e board.Fetch) outcome {
	page, runs, err := h.page(ctx, e)
	return func(b *board.Board) []board.Effect {
		if err != nil {
			b.NoPage(e.Session, err)
			return nil
		}
		return b.Page(e.Session, e.Before, page, runs)
	}
}

func (h *hands) page(ctx context.Context, e board.Fetch) (client.MessageList, []board.RunLog, error) {
	limit, query := pageSize, client.ListMessagesParams{}
	query.Limit = &limit
	if e.Before > 0 {
		query.BeforeSeq = &e.Before
	}
	page, err := client.Decode[client.MessageList](h.api.ListMessages(ctx, e.Session, &query))
	if err != nil || e.Before > 0 {
		return page, nil, err
	}
	runs, err := h.runs(ctx, e.Session)
	return page, runs, err
}

// runs reads the runs of a conversation that are under way, with the ends of their logs.
func (h *hands) runs(ctx context.Context, session client.SessionID) ([]board.RunLog, error) {
	found, err := lookup.New(h.api).Runs(ctx, recentRuns, client.ListAgentTasksParams{SessionID: &session})
	if err != nil {
		return nil, err
	}
	var all []board.RunLog
	for _, t := range found {
		if !t.EndedAt.IsZero() || t.SessionID != session {
			continue
		}
		after, limit := max(t.LastEventSeq-logTail, 0), logTail
		log, err := client.Decode[client.RunEventList](h.api.ListAgentTaskEvents(ctx, t.ID, &client.ListAgentTaskEventsParams{AfterSeq: &after, Limit: &limit}))
		if err != nil && client.CodeOf(err) == "" {
			return nil, err
		}
		all = append(all, board.RunLog{Task: t, Events: log.Items}) // a log that the hub refuses to give is as good as none
	}
	return all, nil
}
