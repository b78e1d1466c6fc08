package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	maxGroup     = 64 // requests that share one disk sync
	groupRetries = 5  // of a group that lost a race against another hub's writer
)

// errSpoiled marks the failure of a group before its commit: nothing of it was kept, and one of its requests may be to blame.
var errSpoiled = errors.New("group spoiled")

func spoiled(err error) error { return fmt.Errorf("%w: %w", errSpoiled, err) }

// ErrWriterStopped is returned to requests that arrive while the hub stops.
var ErrWriterStopped = errors.New("store writer has stopped")

// Writer is the one group-committing writer of a hub process (architecture 7). Requests queue; a group of them becomes one
// transaction with a savepoint each, so that a failing request leaves the others alone. The last statement of a group takes the
// next outbox positions, so commit order is position order on both stores. Do is safe for concurrent use.
type Writer struct {
	store     *Store
	log       *slog.Logger
	requests  chan *request
	stopped   chan struct{}
	committed func(Committed)
	metrics   writerMetrics
	trouble   atomic.Pointer[time.Time] // when the store last took nothing; nil: never

	conn  *sql.Conn            // owned by Run
	stmts map[string]*sql.Stmt // prepared on conn
	bulks map[bulkKey]string   // owned by Run
}

// Committed is what a commit changed for others.
type Committed struct {
	Head  delivery.Position // newest outbox row, 0 when the outbox did not grow
	Edges []id.Edge         // edges that have new commands, each once
}

type request struct {
	locks []Lock
	fn    func(context.Context, *Tx) error
	taken atomic.Bool // by the writer, or back by its caller: whoever comes first
	err   error
	done  chan struct{}
}

func (r *request) claim() bool { return r.taken.CompareAndSwap(false, true) }

// Do runs fn in a transaction and returns after the commit is on disk, with fn's error if it failed: then nothing of it was
// kept. fn may run more than once and must set its results afresh each time; it never runs after Do has returned. The end of ctx takes
// a request back that still waits; one that has begun is seen through. Only an error of the commit itself leaves the outcome unknown
// (PostgreSQL): repeat with the same idempotency key. A store that takes nothing at the moment is a fault.Busy.
func (w *Writer) Do(ctx context.Context, locks []Lock, fn func(context.Context, *Tx) error) error {
	req := &request{locks: locks, fn: fn, done: make(chan struct{})}
	select {
	case w.requests <- req:
	case <-w.stopped:
		return ErrWriterStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-req.done:
	case <-ctx.Done():
		if req.claim() {
			return context.Cause(ctx)
		}
	case <-w.stopped:
		if req.claim() {
			return ErrWriterStopped
		}
	}
	<-req.done
	if troubled(req.err) {
		now := time.Now()
		w.trouble.Store(&now)
	}
	return busyIfTroubled(req.err)
}

// Run commits groups until ctx ends, then finishes the group at hand. It fails only with ErrEpochChanged.
func (w *Writer) Run(ctx context.Context) error {
	defer close(w.stopped)
	defer w.dropConn()
	for {
		select {
		case <-ctx.Done():
			return nil
		case first := <-w.requests:
			if err := w.commit(context.WithoutCancel(ctx), w.gather(first)); errors.Is(err, ErrEpochChanged) {
				return err
			}
		}
	}
}

// gather takes whatever else waits, without waiting for more: under load groups grow by themselves.
func (w *Writer) gather(first *request) []*request {
	group := make([]*request, 0, maxGroup)
	for req := first; ; {
		if req.claim() {
			group = append(group, req)
		}
		if len(group) == maxGroup {
			return group
		}
		select {
		case req = <-w.requests:
		default:
			return group
		}
	}
}

func (w *Writer) commit(ctx context.Context, group []*request) error {
	if len(group) == 0 {
		return nil
	}
	start := time.Now()
	tx, err := w.try(ctx, group)
	for attempt := 1; retryable(err) && attempt < groupRetries; attempt++ {
		tx, err = w.try(ctx, group)
	}
	if len(group) > 1 && errors.Is(err, errSpoiled) {
		return w.commitSingly(ctx, group, err)
	}
	if err != nil {
		w.log.Error("store group failed", "requests", len(group), "error", err)
		w.dropConn()
		w.metrics.failed.Inc()
	} else {
		w.metrics.observe(len(group), len(tx.pending), time.Since(start))
	}
	for _, req := range group {
		if err != nil {
			req.err = fmt.Errorf("commit: %w", err)
		}
		close(req.done)
	}
	if err == nil && (tx.outboxHead > 0 || len(tx.edges) > 0) {
		w.committed(Committed{Head: tx.outboxHead, Edges: slices.Compact(slices.Sorted(slices.Values(tx.edges)))})
	}
	return err
}

// commitSingly finds the request that spoiled its group, and spares the others.
func (w *Writer) commitSingly(ctx context.Context, group []*request, cause error) error {
	w.log.Warn("store group is run request by request", "requests", len(group), "error", cause)
	w.dropConn()
	for i := range group {
		if err := w.commit(ctx, group[i:i+1]); err != nil && !errors.Is(err, errSpoiled) {
			for _, req := range group[i+1:] {
				req.err = fmt.Errorf("commit: %w", err)
				close(req.done)
			}
			return err
		}
	}
	return nil
}

// try runs the group once. An error means that nothing was kept, or, if it came from the commit itself on PostgreSQL, that nobody knows.
func (w *Writer) try(ctx context.Context, group []*request) (*Tx, error) {
	if w.store.dialect.patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.store.dialect.patience)
		defer cancel()
	}
	if err := w.ensureConn(ctx); err != nil {
		return nil, err
	}
	tx := &Tx{dialect: w.store.dialect, conn: w.conn, stmts: w.stmts, bulks: w.bulks, now: time.Now().UTC().Truncate(time.Microsecond)}
	if _, err := w.conn.ExecContext(ctx, w.store.dialect.begin); err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	if err := tx.run(ctx, group); err != nil {
		w.conn.ExecContext(ctx, "ROLLBACK") //nolint:errcheck // for a retry; otherwise the connection is dropped by the caller
		return nil, err
	}
	return tx, nil
}

func (t *Tx) run(ctx context.Context, group []*request) error {
	if err := t.takeLocks(ctx, lockSet(group)); err != nil {
		return err
	}
	for _, req := range group {
		if err := t.runRequest(ctx, req); err != nil {
			return spoiled(err)
		}
	}
	if err := t.placeAudits(ctx); err != nil {
		return fmt.Errorf("audit log: %w", spoiled(err))
	}
	if err := t.placeOutbox(ctx); err != nil {
		return fmt.Errorf("outbox: %w", spoiled(err))
	}
	_, err := t.Exec(ctx, "COMMIT")
	return err
}

// runRequest runs one request in its savepoint. The returned error concerns the whole group; the request's own goes to req.err.
func (t *Tx) runRequest(ctx context.Context, req *request) error {
	if _, err := t.Exec(ctx, "SAVEPOINT request"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	emitted, audited, woken, over := len(t.pending), len(t.audits), len(t.edges), len(t.over)
	if req.err = req.fn(ctx, t); req.err == nil {
		_, err := t.Exec(ctx, "RELEASE SAVEPOINT request")
		return err
	}
	if retryable(req.err) {
		return req.err
	}
	t.pending, t.audits, t.edges, t.over = t.pending[:emitted], t.audits[:audited], t.edges[:woken], t.over[:over]
	if _, err := t.Exec(ctx, "ROLLBACK TO SAVEPOINT request"); err != nil {
		return errors.Join(req.err, err)
	}
	_, err := t.Exec(ctx, "RELEASE SAVEPOINT request")
	return err
}

func lockSet(group []*request) []Lock {
	var locks []Lock
	for _, req := range group {
		locks = append(locks, req.locks...)
	}
	return locks
}
