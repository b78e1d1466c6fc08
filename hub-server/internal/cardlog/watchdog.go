package cardlog

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	scanEvery = time.Second // facts 0.5
	scanPage  = 64
	// jump is by how much a scan may come late, or wall and monotonic time disagree, before nobody counts as having been here.
	jump = 5 * time.Second
	// lookAgain is when cards are looked at again that nobody can judge: their machine is away.
	lookAgain = 10 * time.Second
)

// Runs says how runs are.
type Runs interface {
	// Open returns the runs that are at an edge; Unknown says that it is away.
	Open(ctx context.Context) ([]runlog.Run, error)
}

// Watchdog ends cards of which nothing was heard for longer than their kind may be silent (S0 watchdog). The end is a fact first: run.card_orphaned
// in the log of the card's run, of which the fold makes a card.close. Every hub of a store may have one: a card is ended once, and by
// nobody who has not told all that has happened. Cards of a conversation that nobody has ever watched are not watched here either.
type Watchdog struct {
	logs   *Logs
	timers timer.Store
	runs   Runs
	log    *slog.Logger

	scanned time.Time            // the last time; with both clocks
	here    map[id.Run]time.Time // since when its edge is, without a break, as far as this hub has seen; owned by Run
}

// NewWatchdog returns a watchdog of the traces.
func NewWatchdog(logs *Logs, timers timer.Store, runs Runs, log *slog.Logger) *Watchdog {
	return &Watchdog{logs: logs, timers: timers, runs: runs, log: log, here: map[id.Run]time.Time{}}
}

// Run scans until ctx ends. Trouble with the store is logged and tried again.
func (w *Watchdog) Run(ctx context.Context) error {
	tick := time.NewTicker(scanEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := w.Scan(ctx, time.Now()); err != nil && ctx.Err() == nil {
			w.log.Error("look for silent cards failed", "error", err)
		}
	}
}

// Scan sees to every trace that is due at now, which is later than at the scan before.
func (w *Watchdog) Scan(ctx context.Context, now time.Time) error {
	if err := w.observe(ctx, now); err != nil {
		return err
	}
	due, err := w.timers.Due(ctx, timer.CardOrphans, now, scanPage)
	if err != nil {
		return err
	}
	for _, t := range due {
		if err := w.see(ctx, t, now); err != nil {
			if ctx.Err() != nil {
				return err
			}
			w.log.Error("silent cards cannot be seen to", "session", t.Key, "error", err) // they hold up no others
		}
	}
	return nil
}

// observe looks which runs have their edge here. What nobody looked at counts for nothing: a start, and a pause of this process.
func (w *Watchdog) observe(ctx context.Context, now time.Time) error {
	open, err := w.runs.Open(ctx)
	if err != nil {
		return err
	}
	passed, wall := now.Sub(w.scanned), now.Round(0).Sub(w.scanned.Round(0))
	if w.scanned.IsZero() || passed > scanEvery+jump || (wall-passed).Abs() > jump {
		clear(w.here)
	}
	w.scanned = now
	here := make(map[id.Run]time.Time, len(open))
	for _, run := range open {
		if run.Unknown {
			continue
		}
		since, known := w.here[run.ID]
		if !known {
			since = now
		}
		here[run.ID] = since
	}
	w.here = here
	return nil
}

// see ends the cards of a trace that have been silent for too long, and sets the timer anew.
func (w *Watchdog) see(ctx context.Context, t timer.Timer, now time.Time) error {
	session := id.Session(t.Key)
	at, known, err := w.logs.store.Checkpoint(ctx, session)
	if err != nil {
		return err
	}
	if !known || at.Epoch != w.logs.store.Epoch() {
		return taken(w.timers.Drop(ctx, t))
	}
	line := w.logs.take(session)
	defer w.logs.leave(line)
	return line.work(ctx, func() error {
		for {
			if err := line.tell(ctx, toTheEnd); err != nil {
				return err
			}
			if err := line.write(ctx); err != nil || line.fold == nil {
				return err
			}
			again, err := w.judge(ctx, line, &t, now)
			if err != nil || !again {
				return err
			}
		}
	})
}

// judge ends the first card that is too late, and says whether there may be another.
func (w *Watchdog) judge(ctx context.Context, n *line, t *timer.Timer, now time.Time) (again bool, err error) {
	away := false
	due, ok := n.fold.Deadline(func(run id.Run) (since time.Time, here bool) {
		since, here = w.here[run]
		away = away || !here
		return since, here
	})
	switch {
	case ok && !due.At.After(now):
		return w.end(ctx, n, t, due, now)
	case ok && away:
		return false, w.rearm(ctx, n, *t, earlier(due.At, now.Add(lookAgain)))
	case ok:
		return false, w.rearm(ctx, n, *t, due.At)
	case away:
		return false, w.rearm(ctx, n, *t, now.Add(lookAgain))
	}
	return false, w.rearm(ctx, n, *t, time.Time{})
}

// end makes the end of a card a fact, if nothing has happened meanwhile.
func (w *Watchdog) end(ctx context.Context, n *line, t *timer.Timer, due cards.Due, now time.Time) (ended bool, err error) {
	entry, err := runlog.CardOrphaned(due.Card, string(due.Kind), due.Timeout, now)
	if err != nil {
		return false, err
	}
	next := now.Add(scanEvery).Truncate(time.Microsecond)
	o := Orphan{Session: n.session, Run: due.Run, Place: n.told, Entry: entry, Timer: *t, Next: next}
	if ended, err = w.logs.store.Orphan(ctx, o); err != nil || !ended {
		return false, err
	}
	t.Due = next
	w.logs.metrics.orphans.Inc()
	w.log.Info("card ended: nothing was heard of it", "session", n.session, "run", due.Run, "card", due.Card, "for", due.Timeout)
	return true, nil
}

func (w *Watchdog) rearm(ctx context.Context, n *line, t timer.Timer, due time.Time) error {
	return taken(w.logs.store.Rearm(ctx, n.at, t, due.Truncate(time.Microsecond)))
}

// taken passes over a timer that somebody else has seen to, or will: it is looked at again.
func taken(err error) error {
	if errors.Is(err, timer.ErrTaken) || errors.Is(err, ErrTaken) {
		return nil
	}
	return err
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
