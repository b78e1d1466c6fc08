package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/backup"
)

// Backup writes everything in the store at address to out: the state of one moment, although hubs go on meanwhile. On SQLite the WAL
// cannot be cut until it is done.
func Backup(ctx context.Context, address string, out io.Writer) (backup.Header, error) {
	s, schema, err := openCurrent(ctx, address)
	if err != nil {
		return backup.Header{}, err
	}
	defer s.Close() //nolint:errcheck // it only read
	tx, err := s.readDB.BeginTx(ctx, &s.dialect.snapshot)
	if err != nil {
		return backup.Header{}, fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	header := backup.Header{Format: backup.Format, Schema: schema.Have, MadeAt: time.Now().UTC()}
	if err := tx.QueryRowContext(ctx, `SELECT epoch FROM store_counter WHERE id = 1`).Scan(&header.Epoch); err != nil {
		return backup.Header{}, fmt.Errorf("read epoch: %w", err)
	}
	return header, s.dump(ctx, tx, header, out)
}

func (s *Store) dump(ctx context.Context, tx *sql.Tx, header backup.Header, out io.Writer) error {
	w, err := backup.NewWriter(out, header)
	if err != nil {
		return err
	}
	tables, err := s.tables(ctx, tx)
	if err != nil {
		return err
	}
	for _, table := range slices.DeleteFunc(tables, leftOut) {
		if err := dumpTable(ctx, tx, table, w); err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
	}
	return w.Close()
}

// leftOut says which tables are in no backup: what a hub knows by itself, and what it makes anew. The numbers of card frames would stand for others in
// the next life of the store.
func leftOut(table string) bool {
	switch table {
	case versions, "search_blocks", "search_postings", "search_progress", "card_traces", "card_frames", "card_prompts":
		return true
	}
	return false
}

func dumpTable(ctx context.Context, tx *sql.Tx, table string, w *backup.Writer) error {
	rows, err := tx.QueryContext(ctx, `SELECT * FROM "`+table+`"`)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	if err := w.Table(backup.Table{Name: table, Columns: columns}); err != nil {
		return err
	}
	truths, err := booleans(rows)
	if err != nil {
		return err
	}
	values, cells := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		cells[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return err
		}
		for _, i := range truths {
			if number, ok := values[i].(int64); ok {
				values[i] = number != 0
			}
		}
		if err := w.Row(values); err != nil {
			return err
		}
	}
	return rows.Err()
}

// booleans are the columns that SQLite keeps as numbers and PostgreSQL does not.
func booleans(rows *sql.Rows) (columns []int, err error) {
	types, err := rows.ColumnTypes()
	for i, typ := range types {
		if typ.DatabaseTypeName() == "BOOLEAN" {
			columns = append(columns, i)
		}
	}
	return columns, err
}
