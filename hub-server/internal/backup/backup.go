// Package backup is the form in which everything that a store holds leaves its database: table by table, row by row, and independent of
// the database, so that a store in SQLite can be restored into PostgreSQL and the reverse.
//
// A backup is JSON lines under gzip. The first is the Header; then each table is a line with its name and columns, followed by a line
// per row; the last has the number of rows and the SHA-256 of every byte before it.
package backup

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Format is the number of the form that this program writes, and the highest that it reads.
const Format = 1

// maxLine bounds a row. A chunk of a blob, the largest thing that a store keeps in one row, is 1 MiB.
const maxLine = 64 << 20

// Faults of a backup.
var (
	// ErrDamaged means that the file is not, or no longer, what was written.
	ErrDamaged = errors.New("the backup is damaged or incomplete")
	// ErrNewer means that a newer program wrote it.
	ErrNewer = errors.New("the backup was made by a newer hub-server; restore it with that version")
)

// Header says what a backup is of.
type Header struct {
	Format int       `json:"format"`
	Schema int64     `json:"schema"` // number of the newest migration that the tables had
	Epoch  string    `json:"epoch"`  // of the store it was taken from
	MadeAt time.Time `json:"made_at"`
}

// Table opens the rows of one table.
type Table struct {
	Name    string   `json:"table"`
	Columns []string `json:"columns"`
}

// trailer closes a backup.
type trailer struct {
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
}

// plain is how names of tables and columns look: they become part of statements.
var plain = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

func (t Table) check() error {
	if len(t.Columns) == 0 {
		return fmt.Errorf("table %q has no columns", t.Name)
	}
	for _, name := range append([]string{t.Name}, t.Columns...) {
		if !plain.MatchString(name) {
			return fmt.Errorf("%q is no name of a table or column", name)
		}
	}
	return nil
}
