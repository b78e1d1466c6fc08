package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
)

// lockClass is a kind of row that writers of several hubs contend for. The order of the constants is the order of locking
// everywhere (architecture 7); within a class, ids are sorted. The store counter is last of all and locked by its own update.
type lockClass uint8

const (
	lockIdempotency lockClass = iota + 1
	lockAccount
	lockLane
	lockConversation
	lockRun
	lockPrompt
	lockTeamRun
)

// Lock names one thing that a request will change.
type Lock struct {
	class lockClass
	id    string
}

// LockIdempotency and its siblings build a request's lock set.
func LockIdempotency(key string) Lock      { return Lock{lockIdempotency, key} }
func LockAccount(key string) Lock          { return Lock{lockAccount, key} }
func LockLane(edge string) Lock            { return Lock{lockLane, edge} }
func LockConversation(session string) Lock { return Lock{lockConversation, session} }
func LockRun(run string) Lock              { return Lock{lockRun, run} }

func (l Lock) key() int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d:%s", l.class, l.id)
	return int64(h.Sum64())
}

// takeLocks takes the union of all lock sets in the agreed order, so that two writers never wait for each other in a circle.
// SQLite has one writer at a time and needs none.
func (t *Tx) takeLocks(ctx context.Context, locks []Lock) error {
	if !t.dialect.advisory {
		return nil
	}
	slices.SortFunc(locks, func(a, b Lock) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.id, b.id))
	})
	keys := make([]int64, 0, len(locks))
	for _, l := range slices.Compact(locks) {
		keys = append(keys, l.key())
	}
	if len(keys) == 0 {
		return nil
	}
	// One round trip; unnest gives the keys in their order.
	if _, err := t.Exec(ctx, `SELECT pg_advisory_xact_lock(k) FROM unnest($1::bigint[]) AS k`, keys); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}
