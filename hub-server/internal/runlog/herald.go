package runlog

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// Told is a topic of which a conversation has been told (S0 §10.9).
type Told struct {
	Session id.Session
	Topic   string
}

// HeraldStore remembers what conversations were told. Safe for concurrent use.
type HeraldStore interface {
	// Told returns what conversations were told and was not forgotten since.
	Told(ctx context.Context) ([]Told, error)
	// Tell appends a notice to the log of a run if it still ends at last, and remembers it. It says whether the conversation has been told,
	// by this notice or by an earlier one.
	Tell(ctx context.Context, t Told, runID id.Run, last EventSeq, notice Entry) (bool, error)
	// Forget lets what is over be told again.
	Forget(ctx context.Context, over []Told) error
}

// heraldEvery is how often the Herald looks.
const heraldEvery = 2 * time.Second

// Herald tells conversations what keeps their agents from working, as run.notice in the log of a run that it concerns: each topic once while it
// lasts. Like Watch it observes on this process's monotonic clock: what nobody looked at is no part of how long something has lasted.
type Herald struct {
	runs  *Runs
	store HeraldStore
	after time.Duration

	lastLook time.Time // monotonic
	lastWall time.Time
	since    map[Told]time.Time // of what lasts; monotonic, owned by Run
}

// NewHerald returns a Herald that tells what has lasted so long (HUB_NOTICE_AFTER).
func NewHerald(runs *Runs, store HeraldStore, after time.Duration) *Herald {
	return &Herald{runs: runs, store: store, after: after, since: map[Told]time.Time{}}
}

// Run looks until ctx ends. Trouble with the store is logged and tried again at the next look.
func (h *Herald) Run(ctx context.Context) error {
	tick := time.NewTicker(min(heraldEvery, max(h.after/4, time.Millisecond)))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := time.Now()
		if err := h.Look(ctx, now, now.Round(0)); err != nil && ctx.Err() == nil {
			h.runs.log.Error("look for what conversations should know failed", "error", err)
		}
	}
}

// Look looks at everything once, with clocks as those of Watch.Look.
func (h *Herald) Look(ctx context.Context, at, wall time.Time) error {
	if !h.lastLook.IsZero() && jumped(at.Sub(h.lastLook), wall.Sub(h.lastWall), jump) {
		clear(h.since)
	}
	h.lastLook, h.lastWall = at, wall
	lasting, err := h.troubles(ctx)
	if err != nil {
		return err
	}
	h.observe(lasting, at)
	told, err := h.store.Told(ctx)
	if err != nil {
		return err
	}
	var over []Told
	known := map[Told]bool{}
	for _, t := range told {
		known[t] = true
		if _, lasts := lasting[t]; !lasts {
			over = append(over, t)
		}
	}
	if len(over) > 0 {
		if err := h.store.Forget(ctx, over); err != nil {
			return err
		}
	}
	for t, trouble := range lasting {
		if !known[t] && at.Sub(h.since[t]) >= h.after {
			if err := h.tell(ctx, t, trouble); err != nil {
				return err
			}
		}
	}
	return nil
}

// observe remembers since when each of what lasts does.
func (h *Herald) observe(lasting map[Told]trouble, at time.Time) {
	since := map[Told]time.Time{}
	for t := range lasting {
		since[t] = at
		if before, known := h.since[t]; known {
			since[t] = before
		}
	}
	h.since = since
}

// tell commits the notice. A run that has ended meanwhile needs none.
func (h *Herald) tell(ctx context.Context, t Told, what trouble) error {
	notice, err := own(run.Candidate{Type: event.RunNotice, Payload: what.notice}, now())
	if err != nil {
		return err
	}
	for range raceRetries {
		found, err := h.runs.store.Run(ctx, what.run)
		if err != nil || found.State.Ended() {
			return err
		}
		done, err := h.store.Tell(ctx, t, found.ID, found.LastEventSeq, notice)
		if err != nil {
			return fmt.Errorf("tell %s of %s: %w", t.Session, t.Topic, err)
		}
		if done {
			h.runs.log.Info("a conversation was told what keeps its agents from working", "session", t.Session, "topic", t.Topic, "run", found.ID)
			return nil
		}
	}
	return fmt.Errorf("tell %s of %s: %w", t.Session, t.Topic, errRace)
}
