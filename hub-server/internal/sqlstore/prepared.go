package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// preparedReads keeps the statements that run behind every commit: to prepare one costs SQLite more than to run it. Safe for concurrent use.
type preparedReads struct {
	mu    sync.Mutex
	stmts map[string]*sql.Stmt
}

// prepared returns the statement for a text out of a small fixed set. It belongs to the store.
func (s *Store) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := s.reads.get(query); stmt != nil {
		return stmt, nil
	}
	stmt, err := s.readDB.PrepareContext(ctx, query) //nolint:sqlclosecheck // close does it, with the store
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	return s.reads.keep(query, stmt)
}

// get returns a statement, or nil. To make one may take until a connection is free, and nobody who has one waits for that.
func (p *preparedReads) get(query string) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stmts[query]
}

// keep keeps the first of the statements that were made for a text at once, and returns it.
func (p *preparedReads) keep(query string, stmt *sql.Stmt) (*sql.Stmt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.stmts[query]; first != nil {
		if err := stmt.Close(); err != nil {
			return nil, fmt.Errorf("close %q: %w", query, err)
		}
		return first, nil
	}
	if p.stmts == nil {
		p.stmts = map[string]*sql.Stmt{}
	}
	p.stmts[query] = stmt
	return stmt, nil
}

func (p *preparedReads) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, stmt := range p.stmts {
		errs = append(errs, stmt.Close())
	}
	p.stmts = nil
	return errors.Join(errs...)
}

// queryPrepared runs a prepared statement that gives rows; the caller closes them.
func (s *Store) queryPrepared(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.prepared(ctx, query) //nolint:sqlclosecheck // kept for the store's life
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// queryRowPrepared runs a prepared statement that gives at most one row.
func (s *Store) queryRowPrepared(ctx context.Context, query string, args ...any) Scanner {
	stmt, err := s.prepared(ctx, query) //nolint:sqlclosecheck // kept for the store's life
	if err != nil {
		return failedRow{err}
	}
	return stmt.QueryRowContext(ctx, args...)
}
