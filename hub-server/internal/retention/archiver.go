package retention

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/archive"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

const (
	leavingPage = 32  // runs
	untoldPage  = 100 // conversations of one pass
	eventPage   = 500 // events of one read
)

// Policy is which ended runs leave.
type Policy struct {
	Age   time.Duration // after the end; 0: whatever their age they stay
	Bytes int64         // of all events together; the oldest runs leave while there are more. 0: no limit
}

// Archiver writes the logs of ended runs to archives and removes them from the store. Every hub of a store may have one.
type Archiver struct {
	logs    Logs
	turns   Turns
	dir     archive.Dir
	policy  Policy
	log     *slog.Logger
	metrics archiverMetrics
	slice   int // events; owned by Run

	Traces   Traces   // of the conversations whose runs leave. May be nil where there are none
	Messages Messages // likewise
}

type archiverMetrics struct {
	runs, bytes telemetry.Counter
	kept        telemetry.Gauge
}

// NewArchiver returns an archiver that writes into dir.
func NewArchiver(logs Logs, turns Turns, dir archive.Dir, policy Policy, log *slog.Logger, reg *telemetry.Registry) *Archiver {
	return &Archiver{
		logs: logs, turns: turns, dir: dir, policy: policy, log: log, slice: firstSlice,
		metrics: archiverMetrics{
			runs:  reg.Counter("retention_archived_runs_total", "Runs whose events were moved to an archive."),
			bytes: reg.Counter("retention_archived_bytes_total", "Bytes of payloads that were moved to archives."),
			kept:  reg.Gauge("retention_log_bytes", "Bytes of payloads of all events in the store, at the last look."),
		},
	}
}

// Run lets runs leave until ctx ends. What fails is logged and tried again.
func (a *Archiver) Run(ctx context.Context) error {
	if a.policy == (Policy{}) {
		<-ctx.Done()
		return nil
	}
	work(ctx, a.turns, a.log, a.Pass)
	return nil
}

// Pass lets all runs leave that may at now.
func (a *Archiver) Pass(ctx context.Context, now time.Time) error {
	on, err := a.logs.Begin(ctx)
	if err != nil {
		return err
	}
	if !on {
		a.log.Warn("no run is archived yet: a hub lives that could not read what is left of its log")
		return nil
	}
	if err := a.remove(ctx); err != nil { // what another process did not come to
		return err
	}
	if a.policy.Age > 0 {
		if err := a.leave(ctx, now.Add(-max(a.policy.Age, LateWindow)), always); err != nil {
			return err
		}
	}
	if full, err := a.full(ctx); err != nil || !full {
		return err
	}
	return a.leave(ctx, now.Add(-LateWindow), a.full)
}

func always(context.Context) (bool, error) { return true, nil }

// full says whether more is kept than may be.
func (a *Archiver) full(ctx context.Context) (bool, error) {
	kept, err := a.logs.Bytes(ctx)
	if err != nil {
		return false, err
	}
	a.metrics.kept.Set(float64(kept))
	return a.policy.Bytes > 0 && kept > a.policy.Bytes, nil
}

// leave lets the oldest runs leave that are quiet since then, one after the other, as long as more is true. One run that cannot leave holds up
// no other.
func (a *Archiver) leave(ctx context.Context, quiet time.Time, more func(context.Context) (bool, error)) error {
	if err := a.tell(ctx, quiet); err != nil {
		return err
	}
	for after := (Mark{}); ; {
		page, err := a.logs.Leaving(ctx, after, quiet, leavingPage)
		if err != nil {
			return err
		}
		for _, l := range page {
			if wanted, err := more(ctx); err != nil || !wanted {
				return err
			}
			if err := a.archive(ctx, l); err != nil {
				if ctx.Err() != nil {
					return err
				}
				a.log.Error("run cannot be archived", "run", l.Run, "error", err)
			}
			after = Mark{End: l.End, Run: l.Run}
		}
		if len(page) < leavingPage {
			return nil
		}
	}
}

// tell brings traces along that hold up runs: nobody has looked at them for a while. One that cannot be brought along holds up its own runs alone.
func (a *Archiver) tell(ctx context.Context, quiet time.Time) error {
	if a.Traces == nil {
		return nil
	}
	untold, err := a.logs.Untold(ctx, quiet, untoldPage)
	if err != nil {
		return err
	}
	for _, session := range untold {
		if err := a.Traces.CatchUp(ctx, session); err != nil {
			if ctx.Err() != nil {
				return err
			}
			a.log.Error("cards cannot be told to the end", "session", session, "error", err)
		}
	}
	return nil
}

// archive writes one run's log to its file, and only then lets it leave. After a crash in between the file is written again, the same.
func (a *Archiver) archive(ctx context.Context, l Leaving) error {
	mine, err := a.logs.Claim(ctx, l)
	if err != nil || !mine {
		return err
	}
	var last int64 // place
	s, err := a.dir.Write(l.Header, func(w *archive.Writer) (err error) {
		last, err = a.fill(ctx, l, w)
		return err
	})
	if err != nil {
		return err
	}
	if a.Messages == nil {
		last = 0
	} else if err := a.Messages.Keep(ctx, l.Session, last); err != nil {
		return fmt.Errorf("keep the messages behind it: %w", err)
	}
	left, err := a.logs.Leave(ctx, l, s, last)
	if err != nil || !left {
		return err
	}
	a.metrics.runs.Inc()
	a.metrics.bytes.Add(float64(s.Payload))
	a.log.Info("run archived", "run", l.Run, "events", s.Events, "file", l.File())
	return a.remove(ctx)
}

// fill writes the events of a run and returns the last one's place.
func (a *Archiver) fill(ctx context.Context, l Leaving, w *archive.Writer) (last int64, err error) {
	for after := l.From - 1; after < l.To; {
		page, err := a.logs.Kept(ctx, l.Run, after, eventPage)
		if err != nil {
			return 0, fmt.Errorf("read events: %w", err)
		}
		if len(page) == 0 {
			return 0, fmt.Errorf("the log of %s has no event %d", l.Run, after+1)
		}
		for _, e := range page {
			if e.Seq > l.To {
				break
			}
			if err := w.Add(e); err != nil {
				return 0, err
			}
			last = e.Place
		}
		after = page[len(page)-1].Seq
	}
	return last, nil
}

// remove removes what has left, in slices that adapt themselves to the machine.
func (a *Archiver) remove(ctx context.Context) error {
	for {
		removed, held, err := a.logs.Remove(ctx, a.slice)
		if err != nil {
			return fmt.Errorf("remove archived events: %w", err)
		}
		if removed == 0 {
			return nil
		}
		if removed == a.slice {
			a.slice = next(a.slice, held)
		}
	}
}
