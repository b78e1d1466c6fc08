package sqlstore

import (
	"errors"
	"fmt"
)

// Format numbers the ways in which rows are written. Migrations only add, so hubs of two versions share a store; a row that the older one
// would misread is another matter. It is written only after the store's number was raised, in a transaction that takes the store counter:
// whoever meets the number there, before they write or with what they read, knows what to expect.
type Format int64

// newestFormat is the highest that this program reads, and the one that it writes.
const newestFormat Format = 1

// ErrFormatNewer means that newer hubs write what this program cannot read. Nothing is skipped: it stops to read and to write, and is
// not ready any more.
var ErrFormatNewer = errors.New("the store is written in a newer format; update this hub")

func (f Format) check() error {
	if f > newestFormat {
		return fmt.Errorf("%w (it has %d, this program knows %d)", ErrFormatNewer, f, newestFormat)
	}
	return nil
}
