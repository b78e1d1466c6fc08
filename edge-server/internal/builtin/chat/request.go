package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/retry"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// requests makes the requests of one turn, and says each of them in the log.
type requests struct {
	endpoint endpoint
	opts     Options
	w        *agentline.Writer
	ear      *agentline.Ear
	made     int              // so far
	used     map[string]int64 // by all of them
	model    string           // as the endpoint called it last
}

// ask asks until there is an answer, or no more is asked (S1, stop_reason). What an attempt said before it broke off is a message of its own, which ends with the request.
// A person may end the wait before the next attempt, which takes with it what hear brings.
func (r *requests) ask(ctx context.Context, conversation []message, hear hearing) (answered, error) {
	for attempt := 1; ; attempt++ {
		r.made++
		id := fmt.Sprintf("req-%d", r.made)
		r.w.Fact(event.RequestBegin, event.RequestBeginPayload{RequestID: id, Model: r.opts.Model, Attempt: attempt})
		answer, err := r.endpoint.stream(ctx, again(conversation, attempt), r.w)
		if r.w.Err() != nil {
			return answer, r.w.Err() // nobody listens
		}
		ending := endingOf(err, time.Now())
		answer.attempt, answer.reason = attempt, ending.Reason
		next := retry.Step(attempt, ending)
		r.ended(id, next, answer, err)
		r.count(answer)
		if !next.Again {
			return answer, err
		}
		if err := r.ear.Wait(ctx, func(ctx context.Context) error { return r.opts.waiting()(ctx, next.Wait) }); err != nil {
			return answer, err
		}
		if hear != nil {
			conversation = hear(conversation)
		}
	}
}

// retriedMark begins what the model is told beside a question that it is asked again (facts 1.3). It is no part of the conversation.
const retriedMark = "\n\n[turn_retried]\nThe attempt before this one failed, and nothing of it was kept. Answer from the beginning."

// again is the conversation as an attempt asks it.
func again(conversation []message, attempt int) []message {
	last := len(conversation) - 1
	if attempt == 1 || last < 0 {
		return conversation
	}
	asked := append([]message(nil), conversation...)
	asked[last].Content += retriedMark
	return asked
}

func (r *requests) count(answer answered) {
	for name, n := range answer.usage {
		r.used[name] += n
	}
	r.model = cmp.Or(answer.model, r.model)
}

// bill is the usage of the turn, with the model that worked in it.
func (r *requests) bill() map[string]any {
	bill := map[string]any{}
	for name, n := range r.used {
		bill[name] = n
	}
	if r.model != "" {
		bill["model"] = r.model
	}
	return bill
}

// ended says how an attempt ended, and when there is another one.
func (r *requests) ended(id string, next retry.Decision, answer answered, err error) {
	end := event.RequestEndPayload{RequestID: id, Status: event.RequestStatus(answer.reason), Model: answer.model, Attempt: answer.attempt}
	if answer.reason == omni.Completed && answer.attempt == 1 {
		end.Attempt = 0
	}
	if err != nil {
		_, end.ErrorMessage, _ = explain(err, r.opts)
	}
	if next.Again {
		end.RetryInMS = new(next.Wait.Milliseconds())
	}
	if len(answer.usage) > 0 {
		end.Usage, _ = json.Marshal(answer.usage) //nolint:errchkjson // numbers by their names
	}
	r.w.Fact(event.RequestEnd, end)
}

// waiting is how the turn waits; it returns early, with an error, when the turn is stopped.
func (o Options) waiting() func(context.Context, time.Duration) error {
	if o.wait != nil {
		return o.wait
	}
	return pause
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
