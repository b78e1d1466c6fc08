package sqlstore

import (
	"context"
	"strconv"
	"strings"
)

// bulkSizes are the row counts for which a multi-row statement is prepared; a longer list is cut into these. Few sizes, so that few
// statements stay prepared.
var bulkSizes = [...]int{64, 16, 4, 1}

// insertRows inserts rows with as few statements as possible. head is the text up to and without VALUES; args holds width values a row.
func (t *Tx) insertRows(ctx context.Context, head string, width int, args []any) error {
	for len(args) > 0 {
		for _, size := range bulkSizes {
			if n := size * width; n <= len(args) {
				if _, err := t.Exec(ctx, t.bulkText(head, width, size), args[:n]...); err != nil {
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
	head string
	size int
}

func (t *Tx) bulkText(head string, width, size int) string {
	key := bulkKey{head, size}
	text, ok := t.bulks[key]
	if !ok {
		text = head + " VALUES " + placeholders(t.dialect.numbered, width, size)
		t.bulks[key] = text
	}
	return text
}

// placeholders gives ($1, $2), ($3, $4), … or (?, ?), (?, ?), …
func placeholders(numbered bool, width, size int) string {
	var b strings.Builder
	for i := range width * size {
		switch {
		case i == 0:
			b.WriteByte('(')
		case i%width == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		if !numbered {
			b.WriteByte('?')
			continue
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(i + 1))
	}
	b.WriteByte(')')
	return b.String()
}
