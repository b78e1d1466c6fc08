package chat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	endEvery = time.Second
	endPage  = 16
)

// EndingStore says what is still under way in a conversation.
type EndingStore interface {
	// Owner returns who owns the conversation, whoever asks; NotFound.
	Owner(ctx context.Context, s id.Session) (id.User, error)
	// OpenRuns returns the runs of the conversation that are not over.
	OpenRuns(ctx context.Context, s id.Session) ([]id.Run, error)
}

// Canceller asks a run to stop; see runlog.Runs. Asking again changes nothing.
type Canceller interface {
	CancelFor(ctx context.Context, run id.Run, by id.User, why string) (runlog.Run, error)
}

// Ending cancels what runs in conversations that were dissolved, in the name of who dissolved them. The dissolving has left a timer: of several
// hubs any may act, and one that dies leaves the rest to the others. Nothing begins in a dissolved conversation, so one look is enough.
type Ending struct {
	Store  EndingStore
	Runs   Canceller
	Timers timer.Store
	Log    *slog.Logger
}

// Run looks until ctx ends. Trouble with the store is logged and tried again.
func (e *Ending) Run(ctx context.Context) error {
	tick := time.NewTicker(endEvery)
	defer tick.Stop()
	for {
		if err := e.Sweep(ctx, time.Now()); err != nil && ctx.Err() == nil {
			e.Log.Error("end runs of dissolved conversations failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Sweep sees to every conversation whose timer is due at now.
func (e *Ending) Sweep(ctx context.Context, now time.Time) error {
	for {
		due, err := e.Timers.Due(ctx, timer.SessionEnd, now, endPage)
		if err != nil {
			return err
		}
		for _, t := range due {
			if err := e.end(ctx, t); err != nil {
				return fmt.Errorf("end %s: %w", t.Key, err)
			}
		}
		if len(due) < endPage {
			return nil
		}
	}
}

func (e *Ending) end(ctx context.Context, t timer.Timer) error {
	session := id.Session(t.Key)
	by, err := e.Store.Owner(ctx, session)
	if err != nil {
		return err
	}
	open, err := e.Store.OpenRuns(ctx, session)
	if err != nil {
		return err
	}
	for _, run := range open {
		if _, err := e.Runs.CancelFor(ctx, run, by, "The conversation was dissolved."); err != nil && fault.CodeOf(err) != fault.RunEnded {
			return fmt.Errorf("cancel %s: %w", run, err)
		}
	}
	if err := e.Timers.Drop(ctx, t); err != nil && !errors.Is(err, timer.ErrTaken) {
		return err
	}
	if len(open) > 0 {
		e.Log.Info("runs of a dissolved conversation were cancelled", "session", session, "runs", len(open))
	}
	return nil
}
