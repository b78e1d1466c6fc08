package sqlstore

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
)

// bulkSizes are the row counts for which a multi-row statement is prepared; a longer list is cut into these. Few sizes, so that few
// statements stay prepared.
var bulkSizes = [...]int{64, 16, 4, 1}

// bulk is a statement over a list of rows: begin, the rows in parentheses, end. Or it is one SELECT for each row, all of them in one UNION ALL.
type bulk struct {
	begin string
	width int    // values of a row
	types string // SQL type of each value, separated by spaces, where the statement does not tell PostgreSQL; "" otherwise
	end   string
	one   string // the SELECT of a row, with a ? for each value, instead of all others but width
}

// execRows runs the statement over rows with as few calls as possible; args holds the rows one after the other.
func (t *Tx) execRows(ctx context.Context, b bulk, args []any) error {
	return b.each(args, func(size int, args []any) error {
		_, err := t.Exec(ctx, t.bulkText(b, size), args...)
		return err
	})
}

// queryRows is execRows for a statement that gives rows.
func (t *Tx) queryRows(ctx context.Context, b bulk, args []any, scan func(Scanner) error) error {
	return b.each(args, func(size int, args []any) error {
		rows, err := t.Query(ctx, t.bulkText(b, size), args...)
		return scanAll(rows, err, scan)
	})
}

func scanAll(rows *sql.Rows, err error, scan func(Scanner) error) error {
	_, err = collect(rows, err, func(row Scanner) (struct{}, error) { return struct{}{}, scan(row) })
	return err
}

// each cuts args into lists of rows for which there is a text.
func (b bulk) each(args []any, do func(size int, args []any) error) error {
	for len(args) > 0 {
		for _, size := range bulkSizes {
			if n := size * b.width; n <= len(args) {
				if err := do(size, args[:n]); err != nil {
					return err
				}
				args = args[n:]
				break
			}
		}
	}
	return nil
}

type bulkKey struct {
	bulk
	size int
}

func (t *Tx) bulkText(b bulk, size int) string {
	key := bulkKey{b, size}
	text, ok := t.bulks[key]
	if !ok {
		text = b.text(t.dialect.numbered, size)
		t.bulks[key] = text
	}
	return text
}

func (b bulk) text(numbered bool, rows int) string {
	if b.one != "" {
		return b.union(numbered, rows)
	}
	return b.begin + b.placeholders(numbered, rows) + b.end
}

// union is the SELECT of each row.
func (b bulk) union(numbered bool, rows int) string {
	text := strings.Repeat(b.one+" UNION ALL ", rows-1) + b.one
	if !numbered {
		return text
	}
	parts := strings.Split(text, "?")
	for i := range len(parts) - 1 {
		parts[i] += "$" + strconv.Itoa(i+1)
	}
	return strings.Join(parts, "")
}

// placeholders gives ($1, $2), ($3, $4), … or (?, ?), (?, ?), …, each with its type if it needs one.
func (b bulk) placeholders(numbered bool, rows int) string {
	types := strings.Fields(b.types)
	var text strings.Builder
	for i := range b.width * rows {
		switch {
		case i == 0:
			text.WriteByte('(')
		case i%b.width == 0:
			text.WriteString("), (")
		default:
			text.WriteString(", ")
		}
		placeholder := "?"
		if numbered {
			placeholder = "$" + strconv.Itoa(i+1)
		}
		if len(types) > 0 {
			placeholder = "CAST(" + placeholder + " AS " + types[i%b.width] + ")"
		}
		text.WriteString(placeholder)
	}
	text.WriteByte(')')
	return text.String()
}
