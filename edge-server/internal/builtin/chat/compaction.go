package chat

import (
	"context"
	"errors"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// summaryMark is what the model sees in place of a conversation that was made shorter, before its own summary (S1 "compaction").
const summaryMark = "[context_summary]\n"

// summarise is what the model is asked then. It is no part of the conversation.
const summarise = "Summarise this conversation for yourself: from now on you have the summary in its place. Keep what the person wants, what was decided, " +
	"facts, names and numbers that matter, and what is still open. Write the summary and nothing else."

// errNoSummary is an answer of the model without a word in it.
var errNoSummary = errors.New("the model gave no summary")

// makeShorter is for a turn in which nothing else is wanted.
func (t *talk) makeShorter(ctx context.Context) error {
	if len(t.conversation) == 0 {
		t.answer = "There is nothing to summarise yet."
		return nil
	}
	return t.compact(ctx, event.CompactedByHand, 0)
}

// due says whether the conversation should be made shorter now, and why.
func (t *talk) due() (event.CompactionReason, bool) {
	switch {
	case t.ear.Compact():
		return event.CompactedByHand, true
	case len(t.conversation) >= soft.messages:
		return event.CompactedForTurns, true
	case textOf(t.conversation) > soft.bytes:
		return event.CompactedForContext, true
	}
	return "", false
}

// compact has the model summarise the conversation, which goes on with the summary alone. One that cannot be summarised stays as it is.
// size is its tokens, 0 where they are not known.
func (t *talk) compact(ctx context.Context, reason event.CompactionReason, size int64) error {
	turns := int64(0)
	for _, m := range t.conversation {
		if m.Role == roleUser {
			turns++
		}
	}
	begun := event.CompactionBeginPayload{Reason: reason, Mode: event.CompactionSummarize, Context: size, Turns: turns}
	t.w.Fact(event.CompactionBegin, begun)
	summary, err := t.ask(ctx, append(slices.Clone(t.conversation), message{Role: roleUser, Content: summarise}), nil)
	end := event.CompactionEndPayload{Reason: reason, Mode: begun.Mode, Status: event.RequestStatus(summary.reason)}
	if summary.attempt > 1 || err != nil {
		end.Attempt = summary.attempt
	}
	if err == nil {
		var how omni.StopReason
		how, err = t.goOnWith(summary.text)
		end.Status = event.RequestStatus(how)
	}
	if err != nil {
		_, end.ErrorMessage, _ = explain(err, t.opts)
	}
	if summary.spoke {
		t.w.EndMessage()
	}
	t.w.Fact(event.CompactionEnd, end)
	return err
}

// goOnWith puts a summary in place of the conversation.
func (t *talk) goOnWith(summary string) (omni.StopReason, error) {
	if summary == "" {
		return omni.Malformed, errNoSummary
	}
	shorter := []message{{Role: roleUser, Content: summaryMark + summary}}
	if err := t.memory.save(shorter); err != nil {
		return omni.Failed, forgetError{err}
	}
	t.conversation = shorter
	return omni.Completed, nil
}

func textOf(all []message) (size int) {
	for _, m := range all {
		size += len(m.Content)
	}
	return size
}
