package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Format numbers the ways in which rows are written. Migrations only add, so hubs of two versions share a store; a row that the older one
// would misread is another matter. It is written only after the store's number was raised, in a transaction that takes the store counter:
// whoever meets the number there, before they write or with what they read, knows what to expect.
type Format int64

// The formats. A store begins with the first, and is raised to another when somebody wants to write what it brings.
const (
	formatFirst    Format = 1
	FormatArchives Format = 2 // a log may begin behind its first event: the others are in an archive
	FormatControls Format = 3 // people have approval modes, and conversations may be there to be read alone
)

// newestFormat is the highest that this program reads.
const newestFormat = FormatControls

// ErrFormatNewer means that newer hubs write what this program cannot read. Nothing is skipped: it stops to read and to write, and is
// not ready any more.
var ErrFormatNewer = errors.New("the store is written in a newer format; update this hub")

func (f Format) check() error {
	if f > newestFormat {
		return fmt.Errorf("%w (it has %d, this program knows %d)", ErrFormatNewer, f, newestFormat)
	}
	return nil
}

// RaiseFormat switches a format on, unless a hub that lives has not announced that it reads it, and says whether it is on. Hubs from before
// announcements (schema 10 and older) are not seen: they turn unready when they meet the number.
func (w *Writer) RaiseFormat(ctx context.Context, to Format) (on bool, err error) {
	if err := to.check(); err != nil {
		return false, err
	}
	err = w.Do(ctx, []Lock{lockHubs()}, func(ctx context.Context, tx *Tx) error {
		const raise = `
UPDATE store_counter SET format = $1 WHERE id = 1 AND format < $1 AND NOT EXISTS (SELECT 1 FROM hubs WHERE reads_format < $1)`
		if _, err := tx.Exec(ctx, raise, int64(to)); err != nil {
			return fmt.Errorf("raise format: %w", err)
		}
		now, err := tx.format(ctx)
		on = now >= to
		return err
	})
	return err == nil && on, err
}

// needs switches a format on for somebody who is about to write what it brings; fault.Busy while a hub lives that would misread it.
func (w *Writer) needs(ctx context.Context, f Format) error {
	var now Format
	if err := w.store.readDB.QueryRowContext(ctx, `SELECT format FROM store_counter WHERE id = 1`).Scan(&now); err != nil {
		return fmt.Errorf("read format: %w", err)
	}
	if now >= f {
		return now.check()
	}
	on, err := w.RaiseFormat(ctx, f)
	if err == nil && !on {
		err = fault.New(fault.Busy, "A hub of an older version works on the same store, and would pass over this. Try again when all of them are updated.")
	}
	return err
}

// format reads the store's number.
func (t *Tx) format(ctx context.Context) (now Format, err error) {
	if err := t.QueryRow(ctx, `SELECT format FROM store_counter WHERE id = 1`).Scan(&now); err != nil {
		return 0, fmt.Errorf("read format: %w", err)
	}
	return now, now.check()
}
