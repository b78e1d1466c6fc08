package audit

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

const (
	sealEvery = 5 * time.Second
	sealBatch = 1000 // entries under one seal
)

// Store keeps entries and seals. All methods are safe for concurrent use.
type Store interface {
	// Entries returns up to limit entries behind after, in order.
	Entries(ctx context.Context, after Seq, limit int) ([]Entry, error)
	// Seals returns up to limit seals whose Last is behind after, in order.
	Seals(ctx context.Context, after Seq, limit int) ([]Seal, error)
	// LastSeal returns the newest seal; the zero Seal when there is none.
	LastSeal(ctx context.Context) (Seal, error)
	// AddSeal stores a seal unless another hub has sealed its first entry.
	AddSeal(ctx context.Context, s Seal) error
	// Head is the number that was given out last.
	Head(ctx context.Context) (Seq, error)
}

// Sealer seals what has been entered, every few seconds. Each hub of a store has one.
type Sealer struct {
	Store  Store
	Signer *Signer
	Log    *slog.Logger
}

// Run seals until ctx ends. What could not be sealed is tried again.
func (s *Sealer) Run(ctx context.Context) error {
	tick := time.NewTicker(sealEvery)
	defer tick.Stop()
	for {
		if err := s.Seal(ctx); err != nil && ctx.Err() == nil {
			s.Log.Error("audit log cannot be sealed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Seal seals everything that has been entered so far. The log line is a trace of the seal outside of the store: who can remove the
// newest seals with their entries cannot remove that.
func (s *Sealer) Seal(ctx context.Context) error {
	for {
		last, err := s.Store.LastSeal(ctx)
		if err != nil {
			return fmt.Errorf("read last seal: %w", err)
		}
		entries, err := s.Store.Entries(ctx, last.Last, sealBatch)
		if err != nil {
			return fmt.Errorf("read entries: %w", err)
		}
		if len(entries) == 0 {
			return nil
		}
		next, err := seal(last, entries)
		if err != nil {
			return err
		}
		if err := s.Store.AddSeal(ctx, s.Signer.Sign(next)); err != nil {
			return fmt.Errorf("store seal: %w", err)
		}
		s.Log.Info("audit log sealed", "upto", next.Last, "chain", fmt.Sprintf("%x", next.Chain))
	}
}

// seal covers entries, which must follow the last seal.
func seal(last Seal, entries []Entry) (Seal, error) {
	next := Seal{First: last.Last + 1, Last: last.Last, Chain: last.Chain}
	for _, e := range entries {
		if e.Seq != next.Last+1 {
			return Seal{}, fmt.Errorf("entry %d is missing", next.Last+1)
		}
		next.Last, next.Chain = e.Seq, next.Chain.Next(e)
	}
	return next, nil
}
