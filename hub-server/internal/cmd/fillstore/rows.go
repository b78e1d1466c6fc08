package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

// filler writes into a store file without any of the care that a hub takes: whoever interrupts it throws the file away.
type filler struct {
	db   *sql.DB
	conn *sql.Conn
	log  io.Writer
}

func open(ctx context.Context, path string, log io.Writer) (*filler, error) {
	const fast = "?_pragma=journal_mode(DELETE)&_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=locking_mode(EXCLUSIVE)" +
		"&_pragma=cache_size(-2000000)&_pragma=temp_store(MEMORY)"
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+fast)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return &filler{db: db, conn: conn, log: log}, nil
}

func (f *filler) close() error {
	if err := f.conn.Close(); err != nil {
		return err
	}
	return f.db.Close()
}

func (f *filler) exec(ctx context.Context, statement string, args ...any) error {
	if _, err := f.conn.ExecContext(ctx, statement, args...); err != nil {
		return fmt.Errorf("%.60s: %w", strings.TrimSpace(statement), err)
	}
	return nil
}

// table takes the rows of one table, many in a statement, and says how far it is.
type table struct {
	f        *filler
	into     string // INSERT INTO t (…)
	width    int
	many     *sql.Stmt
	args     []any
	rows     int
	expected int
	told     time.Time
}

const atOnce = 200 // rows of a statement

func (f *filler) table(ctx context.Context, name, columns string, expected int) (*table, error) {
	t := &table{f: f, into: "INSERT INTO " + name + " (" + columns + ") VALUES ", width: strings.Count(columns, ",") + 1, expected: expected, told: time.Now()}
	var err error
	t.many, err = f.conn.PrepareContext(ctx, t.into+t.marks(atOnce))
	return t, err
}

func (t *table) marks(rows int) string {
	row := "(" + strings.Repeat("?, ", t.width-1) + "?)"
	return strings.Repeat(row+", ", rows-1) + row
}

func (t *table) add(ctx context.Context, values ...any) error {
	t.args = append(t.args, values...)
	t.rows++
	if len(t.args) < atOnce*t.width {
		return nil
	}
	if _, err := t.many.ExecContext(ctx, t.args...); err != nil {
		return fmt.Errorf("%.40s: %w", t.into, err)
	}
	t.args = t.args[:0]
	if time.Since(t.told) > 5*time.Second {
		t.told = time.Now()
		fmt.Fprintf(t.f.log, "fillstore: %.40s… %d of about %d\n", t.into, t.rows, t.expected)
	}
	return nil
}

// end writes what is left.
func (t *table) end(ctx context.Context) error {
	if err := t.many.Close(); err != nil {
		return err
	}
	if len(t.args) == 0 {
		return nil
	}
	return t.f.exec(ctx, t.into+t.marks(len(t.args)/t.width), t.args...)
}

// without drops the indexes of a table that can be made again, does something, and makes them: in order, which is much faster.
func (f *filler) without(ctx context.Context, name string, do func() error) error {
	rows, err := f.conn.QueryContext(ctx, `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL`, name)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	made := map[string]string{}
	for rows.Next() {
		var index, statement string
		if err := rows.Scan(&index, &statement); err != nil {
			return err
		}
		made[index] = statement
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for index := range made {
		if err := f.exec(ctx, `DROP INDEX `+index); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	for index, statement := range made {
		fmt.Fprintf(f.log, "fillstore: index %s\n", index)
		if err := f.exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
