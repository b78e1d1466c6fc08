package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// querier is a database, a connection to it, or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// tables lists the tables of the store, sorted.
func (s *Store) tables(ctx context.Context, q querier) ([]string, error) {
	rows, err := q.QueryContext(ctx, s.dialect.tables)
	names, err := collect(rows, err, func(row Scanner) (name string, err error) {
		err = row.Scan(&name)
		return name, err
	})
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	slices.Sort(names)
	return names, nil
}
