package client

import (
	"context"
	"errors"
	"net/http"
	"time"
)

const (
	firstAskAgain = 500 * time.Millisecond
	sayAfter      = 10 * time.Second // without an answer
)

// ask asks until the hub answers, or refuses for good what it was asked for. Everything else passes: a hub that is busy, a proxy's page, a
// network that is gone. The socket stands or will stand again, so none of them is a reason to leave a hole. When it takes long, tell hears why.
func ask[T any](ctx context.Context, tell func(Update) error, call func() (T, error)) (T, error) {
	return asking(ctx, tell, call, func(err error) bool { return !refused(err) })
}

// insist is ask for what every user has: no refusal of it is final.
func insist[T any](ctx context.Context, tell func(Update) error, call func() (T, error)) (T, error) {
	return asking(ctx, tell, call, func(error) bool { return true })
}

// asking calls again, later each time and never sooner than the hub wants, as long as the error is one that may pass.
func asking[T any](ctx context.Context, tell func(Update) error, call func() (T, error), passes func(error) bool) (T, error) {
	begun := time.Now()
	for backoff := firstAskAgain; ; backoff = min(backoff*2, lastBackoff) {
		answer, err := call()
		if err == nil || fatalError(ctx, err) != nil || !passes(err) {
			return answer, err
		}
		wait := max(jitter(backoff), later(askedPause(err)))
		if time.Since(begun)+wait >= sayAfter {
			if err := tell(Update{Event: Event{Err: err}}); err != nil {
				return answer, err
			}
		}
		if err := pause(ctx, wait); err != nil {
			return answer, err
		}
	}
}

// busy says whether a hub could not answer now.
func busy(err error) bool {
	var problem *ProblemError
	if errors.As(err, &problem) {
		return problem.Status >= http.StatusInternalServerError || problem.Status == http.StatusTooManyRequests
	}
	return errors.Is(err, ErrUnreachable)
}

// refused says whether the hub itself, and no proxy before it, does not give what it was asked for.
func refused(err error) bool {
	var problem *ProblemError
	if !errors.As(err, &problem) || problem.Code == ProblemUnexpected {
		return false
	}
	switch problem.Status {
	case http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		return true
	}
	return false
}

// forgivable drops a hub's refusal: what it does not give, a conversation that was left or a run that was removed, cannot be told.
func forgivable(err error) error {
	if refused(err) {
		return nil
	}
	return err
}
