package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// maxStall is how long a transaction may wait for its next statement. Nothing but statements happens in one, so only a process that was
// stopped takes that long: PostgreSQL then ends its session, because other hubs wait for the locks that it holds.
const maxStall = 5 * time.Second

func (w *Writer) ensureConn(ctx context.Context) error {
	if w.conn != nil {
		return nil
	}
	conn, err := w.store.writeDB.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if err := w.store.greet(ctx, conn); err != nil {
		discard(conn)
		return err
	}
	w.conn, w.stmts = conn, map[string]*sql.Stmt{}
	return nil
}

// greet makes sure that a new writer connection leads to the same store, that its commits wait for the disk, and that it cannot hold up
// other hubs for long.
func (s *Store) greet(ctx context.Context, conn *sql.Conn) error {
	if s.dialect.durable != "" {
		if _, err := conn.ExecContext(ctx, s.dialect.durable); err != nil {
			return fmt.Errorf("ask for durable commits: %w", err)
		}
	}
	if s.dialect.stall != "" {
		if _, err := conn.ExecContext(ctx, s.dialect.stall, strconv.FormatInt(maxStall.Milliseconds(), 10)); err != nil {
			return fmt.Errorf("bound stalled transactions: %w", err)
		}
	}
	epoch, err := s.dialect.readEpoch(ctx, conn)
	if err == nil && epoch != s.Epoch() {
		err = ErrEpochChanged
	}
	return err
}

// dropConn forgets a connection whose state is in doubt; the next group makes a new one.
func (w *Writer) dropConn() {
	if w.conn == nil {
		return
	}
	for _, stmt := range w.stmts {
		stmt.Close() //nolint:errcheck // the connection goes away with it
	}
	discard(w.conn)
	w.conn, w.stmts = nil, nil
}

// troubleLasts is how long a hub that could not store something is unready. A disk that is all but full still takes what is small.
const troubleLasts = 5 * time.Second

var errTrouble = errors.New("the store could not take something a moment ago")

// Probe proves that the store takes writes, and this hub's at that: it commits one that changes nothing.
func (w *Writer) Probe(ctx context.Context) error {
	if last := w.trouble.Load(); last != nil && time.Since(*last) < troubleLasts {
		return errTrouble
	}
	return w.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		var format Format
		if err := tx.QueryRow(ctx, `UPDATE store_counter SET epoch = epoch WHERE id = 1 RETURNING format`).Scan(&format); err != nil {
			return err
		}
		return format.check()
	})
}
