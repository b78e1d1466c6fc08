package chat

import (
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
}

// answer asks until there is an answer, or no more is asked (S1, stop_reason). Its usage is that of all attempts. What an attempt said before it
// broke off stays as a message of its own.
func (r requests) answer(ctx context.Context, conversation []message) (answered, error) {
	used := map[string]int64{}
	for attempt := 1; ; attempt++ {
		id := fmt.Sprintf("req-%d", attempt)
		r.w.Fact(event.RequestBegin, event.RequestBeginPayload{RequestID: id, Model: r.opts.Model, Attempt: attempt})
		answer, err := r.endpoint.stream(ctx, conversation, r.w)
		if r.w.Err() != nil {
			return answer, r.w.Err() // nobody listens
		}
		ending := endingOf(err, time.Now())
		next := retry.Step(attempt, ending)
		if next.Again && answer.spoke {
			r.w.EndMessage()
		}
		r.ended(id, attempt, ending.Reason, next, answer, err)
		for name, n := range answer.usage {
			used[name] += n
		}
		answer.usage = used
		if !next.Again {
			return answer, err
		}
		if err := r.opts.waiting()(ctx, next.Wait); err != nil {
			return answer, err
		}
	}
}

// ended says how an attempt ended, and when there is another one.
func (r requests) ended(id string, attempt int, reason omni.StopReason, next retry.Decision, answer answered, err error) {
	end := event.RequestEndPayload{RequestID: id, Status: event.RequestStatus(reason), Model: answer.model, Attempt: attempt}
	if reason == omni.Completed && attempt == 1 {
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
