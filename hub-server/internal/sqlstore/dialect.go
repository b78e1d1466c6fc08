package sqlstore

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
)

// dialect holds the few things that SQLite and PostgreSQL do not say alike. Statements themselves are one portable set.
type dialect struct {
	name     string
	goose    goose.Dialect
	begin    string
	advisory bool // writers of several processes must take locks in an agreed order
}

var (
	sqlite = dialect{name: "sqlite", goose: goose.DialectSQLite3, begin: "BEGIN IMMEDIATE"}
	// READ COMMITTED is enough: every write declares its locks and the counter row orders commits.
	postgres = dialect{name: "postgres", goose: goose.DialectPostgres, begin: "BEGIN", advisory: true}
)

// retryable says whether the whole group may simply be run again.
func retryable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}
