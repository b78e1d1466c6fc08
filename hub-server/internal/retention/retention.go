// Package retention removes what is kept for a time only.
package retention

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

const (
	lookEvery = time.Minute
	// maxHold is how long one slice may hold up other writers of a SQLite store.
	maxHold    = 5 * time.Millisecond
	firstSlice = 200 // rows
	minSlice   = 20
	maxSlice   = 5000
)

// Outbox can be trimmed. Safe for concurrent use.
type Outbox interface {
	// TrimOutbox removes rows from the beginning that are older than before, at most limit. It returns how many, and how long that held up
	// other writers.
	TrimOutbox(ctx context.Context, before time.Time, limit int) (removed int, held time.Duration, err error)
}

// Trimmer trims the outbox, in slices that adapt themselves to the machine.
type Trimmer struct {
	outbox Outbox
	keep   time.Duration
	log    *slog.Logger
	slice  int // rows; owned by Run
}

// NewTrimmer returns a trimmer that keeps rows for so long; 0: for ever. Each hub of a store may have one.
func NewTrimmer(outbox Outbox, keep time.Duration, log *slog.Logger) *Trimmer {
	return &Trimmer{outbox: outbox, keep: keep, log: log, slice: firstSlice}
}

// Run trims until ctx ends. What fails is logged and tried again.
func (t *Trimmer) Run(ctx context.Context) error {
	if t.keep == 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := t.trim(ctx, time.Now().Add(-t.keep)); err != nil && ctx.Err() == nil {
			t.log.Error("outbox cannot be trimmed", "error", err)
		}
	}
}

func (t *Trimmer) trim(ctx context.Context, before time.Time) error {
	for total := 0; ; {
		limit := t.slice
		removed, held, err := t.outbox.TrimOutbox(ctx, before, limit)
		if err != nil {
			return fmt.Errorf("trim outbox: %w", err)
		}
		total += removed
		if removed < limit {
			if total > 0 {
				t.log.Debug("outbox trimmed", "rows", total)
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
