package audit

import (
	"context"
	"errors"
	"fmt"
)

// ErrBroken means that the log is not what was written.
var ErrBroken = errors.New("the audit log was changed")

// Verdict is what a log proves.
type Verdict struct {
	Sealed   Seq   // entries up to this one are what was written
	Chain    Chain // after it; one noted earlier must be met again
	Unsealed int   // entries behind it that nothing vouches for yet
}

const verifyPage = 1000

// Verify reads the whole log and fails with ErrBroken at the first entry or seal that is not what was written. Hubs may go on meanwhile.
func Verify(ctx context.Context, store Store, signer *Signer) (Verdict, error) {
	head, err := store.Head(ctx) // first of all: what comes later is no fault
	if err != nil {
		return Verdict{}, fmt.Errorf("read head: %w", err)
	}
	last, err := verifySeals(ctx, store, signer)
	v := Verdict{Sealed: last.Last, Chain: last.Chain}
	if err != nil {
		return v, err
	}
	end, err := verifyTail(ctx, store, last)
	if err != nil {
		return v, err
	}
	if end < head {
		return v, fmt.Errorf("%w: entries %d to %d are missing", ErrBroken, end+1, head)
	}
	v.Unsealed = int(end - last.Last)
	return v, nil
}

// verifySeals returns the last seal that is right.
func verifySeals(ctx context.Context, store Store, signer *Signer) (last Seal, err error) {
	for {
		seals, err := store.Seals(ctx, last.Last, verifyPage)
		if err != nil {
			return last, fmt.Errorf("read seals: %w", err)
		}
		if len(seals) == 0 {
			return last, nil
		}
		for _, s := range seals {
			if err := verifySeal(ctx, store, signer, last, s); err != nil {
				return last, err
			}
			last = s
		}
	}
}

func verifySeal(ctx context.Context, store Store, signer *Signer, last, s Seal) error {
	if s.First != last.Last+1 || s.Last < s.First || s.Last-last.Last > sealBatch {
		return fmt.Errorf("%w: the seal of entries %d to %d does not follow entry %d", ErrBroken, s.First, s.Last, last.Last)
	}
	if !signer.signed(s) {
		return fmt.Errorf("%w: the seal of entries %d to %d is not signed with the key of this hub", ErrBroken, s.First, s.Last)
	}
	entries, err := store.Entries(ctx, last.Last, int(s.Last-last.Last))
	if err != nil {
		return fmt.Errorf("read entries: %w", err)
	}
	found, err := seal(last, entries)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	if found.Last != s.Last || found.Chain != s.Chain {
		return fmt.Errorf("%w: entries %d to %d are not those that were sealed", ErrBroken, s.First, s.Last)
	}
	return nil
}

// verifyTail returns the last entry behind the seals.
func verifyTail(ctx context.Context, store Store, last Seal) (Seq, error) {
	for {
		entries, err := store.Entries(ctx, last.Last, verifyPage)
		if err != nil {
			return 0, fmt.Errorf("read entries: %w", err)
		}
		if len(entries) == 0 {
			return last.Last, nil
		}
		if last, err = seal(last, entries); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrBroken, err)
		}
	}
}
