// Package supervise owns goroutines: Run for the parts of a process, Group for the workers inside a part. Nothing else in the tree, but for
// connection handlers, starts one.
package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// ErrStopTimeout is wrapped by the error of Run when parts did not return in time. Their goroutines are still there: exit.
var ErrStopTimeout = errors.New("parts did not stop in time")

// Part is a long-lived piece of a process. Run blocks until its context ends or it has failed; nil before that means that its work is done,
// which stops nobody else.
type Part struct {
	Name string
	Run  func(ctx context.Context) error
	// Ready, if not nil, is closed by the part when the next one may start.
	Ready <-chan struct{}
}

// Run starts the parts in order and blocks until ctx ends or one fails. Then it stops them in reverse order, each one before the next, so
// that a part can rely on those before it for as long as it lives. All of them together have grace to return. The error joins that of
// every part that failed; a part that returns its context's error when it is stopped has not failed.
func Run(ctx context.Context, log *slog.Logger, grace time.Duration, parts ...Part) error {
	failed := make(chan *running, len(parts))
	var started []*running
	var first *running
	for _, part := range parts {
		r := start(ctx, log, part, failed)
		started = append(started, r)
		if first = r.awaitReady(ctx, failed); first != nil || ctx.Err() != nil {
			break
		}
	}
	if first == nil {
		first = await(ctx, started, failed)
	}
	return stop(log, grace, started, first)
}

// running is a started part. err may be read once done is closed.
type running struct {
	part   Part
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// start detaches the part from ctx: it is stopped by its turn in the reverse order, not by everybody's end.
func start(ctx context.Context, log *slog.Logger, part Part, failed chan<- *running) *running {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &running{part: part, cancel: cancel, done: make(chan struct{})}
	log.Info("part starts", "part", part.Name)
	go func() {
		defer close(r.done)
		err := part.Run(own)
		if err == nil || (own.Err() != nil && errors.Is(err, own.Err())) {
			return
		}
		r.err = fmt.Errorf("%s: %w", part.Name, err)
		failed <- r
	}()
	return r
}

// awaitReady returns the part that failed meanwhile, if any.
func (r *running) awaitReady(ctx context.Context, failed <-chan *running) *running {
	if r.part.Ready == nil {
		return nil
	}
	select {
	case <-r.part.Ready:
		return nil
	case <-r.done:
		select {
		case first := <-failed:
			return first
		default:
			return nil
		}
	case first := <-failed:
		return first
	case <-ctx.Done():
		return nil
	}
}

// await returns the first part that fails, or nil when ctx ends or every part is done.
func await(ctx context.Context, started []*running, failed <-chan *running) *running {
	for _, r := range started {
		select {
		case <-r.done:
		case first := <-failed:
			return first
		case <-ctx.Done():
			return nil
		}
	}
	select {
	case first := <-failed:
		return first
	default:
		return nil
	}
}

func stop(log *slog.Logger, grace time.Duration, started []*running, first *running) error {
	if first != nil {
		log.Error("part failed", "part", first.part.Name, "error", first.err)
	}
	deadline := time.NewTimer(grace)
	defer deadline.Stop()
	var errs []error
	for i := len(started) - 1; i >= 0; i-- {
		r := started[i]
		r.cancel()
		select {
		case <-r.done:
			log.Info("part stopped", "part", r.part.Name)
			errs = append(errs, r.err)
		case <-deadline.C:
			return errors.Join(append(errs, abandon(log, started[:i+1]))...)
		}
	}
	return errors.Join(errs...)
}

// abandon cancels what is left at once, so that it can still save what it holds while the process exits.
func abandon(log *slog.Logger, left []*running) error {
	var errs []error
	for _, r := range left {
		r.cancel()
		select {
		case <-r.done:
			errs = append(errs, r.err)
		default:
			log.Error("part did not stop in time", "part", r.part.Name)
			errs = append(errs, fmt.Errorf("%s: %w", r.part.Name, ErrStopTimeout))
		}
	}
	return errors.Join(errs...)
}
