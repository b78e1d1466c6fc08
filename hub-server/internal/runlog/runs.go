package runlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Store is all of the record that the services of this package need.
type Store interface {
	LaneStore
	RunStore
	SuccessionStore
	PersonStore
	EventStore
	CommandStore
	BlobStore
}

// Config is what New works with.
type Config struct {
	Store    Store
	Edges    Edges
	Presence fleet.Presence
	Signer   *Signer
	Log      *slog.Logger
	Metrics  *telemetry.Registry
	MaxBlob  int64 // bytes of one blob; 0 for DefaultMaxBlob
}

// Services are the parts of the record, wired to one another.
type Services struct {
	Dispatcher *Dispatcher
	Runs       *Runs
	Lanes      *Lanes
	Blobs      *Blobs
}

// New wires the services over one store.
func New(c Config) Services {
	m := newMetrics(c.Metrics)
	blobs := &Blobs{store: c.Store, max: cmp.Or(c.MaxBlob, DefaultMaxBlob)}
	dispatcher := NewDispatcher(c.Edges, c.Presence, c.Signer, c.Store)
	runs := &Runs{
		store: c.Store, lanes: c.Store, succession: c.Store, events: c.Store, commands: c.Store, closer: closer{events: c.Store, blobs: blobs},
		dispatcher: dispatcher, presence: c.Presence, signer: c.Signer, log: c.Log, metrics: m,
		holds: newHolds(),
	}
	lanes := &Lanes{store: c.Store, runs: runs, blobs: blobs, signer: c.Signer, log: c.Log, metrics: m}
	return Services{Dispatcher: dispatcher, Runs: runs, Lanes: lanes, Blobs: blobs}
}

// Runs reads runs and their logs, and applies what people and the hub decide about them. Whether the caller may is not asked here.
// Safe for concurrent use.
type Runs struct {
	store      RunStore
	lanes      LaneStore
	succession SuccessionStore
	events     EventStore
	commands   CommandStore
	closer     closer
	dispatcher *Dispatcher
	presence   fleet.Presence
	signer     *Signer
	log        *slog.Logger
	metrics    metrics
	holds      *holds
}

// Limits of a page.
const (
	MaxRuns   = 200
	MaxEvents = 500
)

// raceRetries is how often a decision is prepared anew because the run moved meanwhile.
const raceRetries = 16

// errRace means that a run moved faster than a decision about it could be prepared.
var errRace = errors.New("the run kept moving while a decision about it was prepared")

// Get returns a run; fault.NotFound.
func (r *Runs) Get(ctx context.Context, runID id.Run) (Run, error) {
	found, err := r.store.Run(ctx, runID)
	if err != nil {
		return Run{}, err
	}
	found = r.seen(found)
	if err := r.explain(ctx, &found); err != nil {
		return Run{}, err
	}
	return found, nil
}

// List returns a page of runs, newest first. A limit beyond MaxRuns, or none, means MaxRuns.
func (r *Runs) List(ctx context.Context, q Query) ([]Run, error) {
	if q.Limit <= 0 || q.Limit > MaxRuns {
		q.Limit = MaxRuns
	}
	runs, err := r.store.Runs(ctx, q)
	for i := range runs {
		runs[i] = r.seen(runs[i])
		err = errors.Join(err, r.explain(ctx, &runs[i]))
	}
	return runs, err
}

// Open returns the runs that are at an edge and have no outcome.
func (r *Runs) Open(ctx context.Context) ([]Run, error) {
	open, err := r.store.OpenRuns(ctx, "")
	for i := range open {
		open[i] = r.seen(open[i])
	}
	return open, err
}

// seen adds what only presence knows.
func (r *Runs) seen(found Run) Run {
	found.Unknown = found.Edge != "" && !found.State.Ended() && !found.ProcessEnded && !r.presence.Online(found.Edge)
	return found
}

// EventPage is a stretch of a run's log.
type EventPage struct {
	Events []StoredEvent
	Last   EventSeq // the run's newest event at the time of reading
}

// Events returns up to limit events after the given one (0 for all). A limit beyond MaxEvents, or none, means MaxEvents. Errors:
// fault.NotFound, and fault.CursorAhead when after lies beyond the newest event: waiting for it would be waiting for ever (S2); *Expired when it
// lies below what is kept; ErrHole when the next event is missing. A page never goes on behind a hole.
func (r *Runs) Events(ctx context.Context, runID id.Run, after EventSeq, limit int) (EventPage, error) {
	if limit <= 0 || limit > MaxEvents {
		limit = MaxEvents
	}
	events, last, err := r.events.Events(ctx, runID, after, limit)
	if err != nil {
		return EventPage{}, err
	}
	if after > last {
		return EventPage{}, fault.New(fault.CursorAhead, "The run has %d events; after_seq=%d lies beyond them.", last, after)
	}
	return pageOf(runID, events, after, last)
}

// EventsUpTo returns the events after a number up to head, at most MaxEvents. The caller knows that head is committed, so one look at the store is
// enough. Errors are those of Events.
func (r *Runs) EventsUpTo(ctx context.Context, runID id.Run, after, head EventSeq) (EventPage, error) {
	events, err := r.events.EventsUpTo(ctx, runID, after, min(head, after+MaxEvents))
	if err != nil {
		return EventPage{}, err
	}
	return pageOf(runID, events, after, head)
}

func pageOf(runID id.Run, events []StoredEvent, after, last EventSeq) (EventPage, error) {
	events, err := upToHole(events, after, last)
	if err != nil {
		return EventPage{}, fmt.Errorf("read log of %s: %w", runID, err)
	}
	return EventPage{Events: events, Last: last}, nil
}

// Artifacts lists what a run made.
func (r *Runs) Artifacts(ctx context.Context, runID id.Run) ([]Artifact, error) {
	return r.events.Artifacts(ctx, runID)
}

// Artifact returns one artifact; fault.NotFound.
func (r *Runs) Artifact(ctx context.Context, artifact id.Artifact) (Artifact, error) {
	return r.events.Artifact(ctx, artifact)
}

// finish ends a run from the hub: closings first, then the outcome. A run that has its outcome is left alone.
func (r *Runs) finish(ctx context.Context, runID id.Run, outcome run.Outcome) error {
	log := r.closer.reading()
	for range raceRetries {
		found, err := r.store.Run(ctx, runID)
		if err != nil || found.State.Ended() {
			return err
		}
		entries, err := log.ending(ctx, found, nil, outcome)
		if err != nil {
			return err
		}
		done, err := r.store.AppendOwn(ctx, runID, found.LastEventSeq, entries)
		if err != nil {
			return fmt.Errorf("end run %s: %w", runID, err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("end run %s: %w", runID, errRace)
}

// interruptLost ends the runs of an edge that has lost its journal: what it does not hold now it will never report. A run whose start
// it has not answered is left: that command is sent again.
func (r *Runs) interruptLost(ctx context.Context, edge id.Edge, live []id.Run) error {
	open, err := r.store.OpenRuns(ctx, edge)
	if err != nil {
		return fmt.Errorf("list open runs: %w", err)
	}
	commands, err := r.commands.TakeCommands(ctx, edge)
	if err != nil {
		return fmt.Errorf("list open commands: %w", err)
	}
	held := map[id.Run]bool{}
	for _, runID := range live {
		held[runID] = true
	}
	for _, c := range commands {
		if c.Kind != wire.AnswerPrompt && c.Kind != wire.Control { // nobody is left who asked, or listens
			held[c.RunID] = true
		}
	}
	for _, lost := range open {
		if held[lost.ID] {
			continue
		}
		if err := r.finish(ctx, lost.ID, run.Interrupted(fault.ProcessLost)); err != nil {
			return err
		}
	}
	return nil
}
