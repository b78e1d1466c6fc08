// Package retention removes what is kept for a time only.
package retention

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// TurnEvery is how often something is removed, by one of the hubs of a store.
const TurnEvery = time.Minute

const (
	lookEvery = TurnEvery / 4 // so that a hub that dies holds up no turn for long
	// maxHold is how long one slice may hold up other writers of a SQLite store.
	maxHold    = 5 * time.Millisecond
	firstSlice = 200 // rows
	minSlice   = 20
	maxSlice   = 5000
)

// Rows can be trimmed. Safe for concurrent use.
type Rows interface {
	// Trim removes rows from the beginning that are older than before, at most limit. It returns how many, and how long that held up other writers.
	Trim(ctx context.Context, before time.Time, limit int) (removed int, held time.Duration, err error)
}

// Turns decides which hub of a store works at a time. Safe for concurrent use.
type Turns interface {
	// Begin makes sure that there will be a turn.
	Begin(ctx context.Context, now time.Time) error
	// Take says whether a turn is due at now and this hub's.
	Take(ctx context.Context, now time.Time) (bool, error)
}

// work does something at each turn that is this hub's until ctx ends. What fails is logged and tried again at the next look.
func work(ctx context.Context, turns Turns, log *slog.Logger, do func(context.Context, time.Time) error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for begun := false; ; {
		err := turn(ctx, turns, &begun, do)
		if err != nil && ctx.Err() == nil {
			log.Error("retention failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func turn(ctx context.Context, turns Turns, begun *bool, do func(context.Context, time.Time) error) error {
	now := time.Now()
	if !*begun {
		if err := turns.Begin(ctx, now); err != nil {
			return err
		}
		*begun = true
	}
	if mine, err := turns.Take(ctx, now); err != nil || !mine {
		return err
	}
	return do(ctx, now)
}

// Trimmer trims rows, in slices that adapt themselves to the machine.
type Trimmer struct {
	rows  Rows
	turns Turns
	keep  time.Duration
	log   *slog.Logger
	slice int // rows; owned by Run
}

// NewTrimmer returns a trimmer that keeps rows for so long; 0: for ever. Each hub of a store may have one. The log says what is trimmed.
func NewTrimmer(rows Rows, turns Turns, keep time.Duration, log *slog.Logger) *Trimmer {
	return &Trimmer{rows: rows, turns: turns, keep: keep, log: log, slice: firstSlice}
}

// Run trims until ctx ends. What fails is logged and tried again.
func (t *Trimmer) Run(ctx context.Context) error {
	if t.keep == 0 {
		<-ctx.Done()
		return nil
	}
	work(ctx, t.turns, t.log, func(ctx context.Context, now time.Time) error { return t.trim(ctx, now.Add(-t.keep)) })
	return nil
}

func (t *Trimmer) trim(ctx context.Context, before time.Time) error {
	for total := 0; ; {
		limit := t.slice
		removed, held, err := t.rows.Trim(ctx, before, limit)
		if err != nil {
			return fmt.Errorf("trim rows: %w", err)
		}
		total += removed
		if removed < limit {
			if total > 0 {
				t.log.Debug("old rows removed", "rows", total)
			}
			return nil
		}
		t.slice = next(limit, held)
	}
}

// next is the size of the slice after one of size rows that took held.
func next(size int, held time.Duration) int {
	switch {
	case held > maxHold:
		return max(minSlice, size/2)
	case held < maxHold/4:
		return min(maxSlice, size*2)
	}
	return size
}
