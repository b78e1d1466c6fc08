package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Tx is what a write request works with. It lives inside one group of the Writer and is not safe for concurrent use.
// Nothing but statements belongs between its calls: encode and hash before.
type Tx struct {
	dialect    dialect
	conn       *sql.Conn
	stmts      map[string]*sql.Stmt // prepared on conn, owned by the writer
	bulks      map[bulkKey]string   // texts of multi-row statements, owned by the writer
	now        time.Time
	pending    []delivery.Row
	audits     []audit.Entry
	edges      []id.Edge         // to be woken after the commit
	over       []id.Run          // ended runs whose logs have grown
	outboxHead delivery.Position // known when the group's rows are placed
}

// Now is the hub's time for everything that this group records, cut to microseconds.
func (t *Tx) Now() time.Time { return t.now }

// Exec runs a statement and returns how many rows it changed.
func (t *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	stmt, err := t.prepare(ctx, query) //nolint:sqlclosecheck // kept for the connection's life, closed by the writer
	if err != nil {
		return 0, err
	}
	res, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// QueryRow runs a statement that gives at most one row.
func (t *Tx) QueryRow(ctx context.Context, query string, args ...any) Scanner {
	stmt, err := t.prepare(ctx, query) //nolint:sqlclosecheck // kept for the connection's life, closed by the writer
	if err != nil {
		return failedRow{err}
	}
	return stmt.QueryRowContext(ctx, args...)
}

// Query runs a statement that gives rows; the caller closes them before the next statement.
func (t *Tx) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := t.prepare(ctx, query) //nolint:sqlclosecheck // kept for the connection's life, closed by the writer
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// Emit puts a row into the outbox. It gets its position, behind all rows emitted before it in the group, at the group's end.
func (t *Tx) Emit(row delivery.Row) { t.pending = append(t.pending, row) }

// WakeEdge says that the edge has a new command: whoever holds its uplink hears of it after the commit.
func (t *Tx) WakeEdge(e id.Edge) { t.edges = append(t.edges, e) }

// Scanner is a row that can be read once.
type Scanner interface {
	Scan(dest ...any) error
}

type failedRow struct{ err error }

func (f failedRow) Scan(...any) error { return f.err }

func (t *Tx) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := t.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := t.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	t.stmts[query] = stmt
	return stmt, nil
}
