// Package peer keeps the list of the hub processes that share a store: each says that it lives and up to which format it reads, and each
// crosses off those that it has not heard of for a whole period on its own monotonic clock. Nobody's wall clock decides (architecture 10).
package peer

import (
	"context"
	"time"
)

// ID tells one hub process from all others. It is random.
type ID string

// Peer is a hub process.
type Peer struct {
	ID    ID
	Beat  int64 // raised with every sign of life
	Reads int64 // the newest format of rows that it reads
}

// Store keeps the list. Safe for concurrent use.
type Store interface {
	// Announce puts a process on the list, or raises its beat. It fails if the store is written in a format that this program does not know.
	Announce(ctx context.Context, id ID, started time.Time) error
	// Peers returns the list.
	Peers(ctx context.Context) ([]Peer, error)
	// Forget crosses p off if its beat is still p.Beat, and says whether it did.
	Forget(ctx context.Context, p Peer) (bool, error)
	// Leave crosses a process off.
	Leave(ctx context.Context, id ID) error
}
