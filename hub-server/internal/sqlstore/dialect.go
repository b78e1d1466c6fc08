package sqlstore

import (
	"database/sql"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
)

// dialect holds the few things that SQLite and PostgreSQL do not say alike. Statements themselves are one portable set.
type dialect struct {
	name     string
	goose    goose.Dialect
	begin    string
	advisory bool          // writers of several processes must take locks in an agreed order
	numbered bool          // multi-row statements number their placeholders; for SQLite a number is a name that it looks up, one by one
	identity string        // statement that names the server and its timeline; "" when the file is all there is
	durable  string        // statement for a new writer connection; "" when the connection string says it all
	stall    string        // statement that takes a duration's milliseconds, for a new writer connection; "" when nobody else waits for this process
	patience time.Duration // for one group; 0 when nothing but the local disk can hold it up
	tables   string        // statement that lists the tables
	snapshot sql.TxOptions // of a transaction that sees the store as it is at its beginning
}

var (
	sqlite = dialect{
		name: "sqlite", goose: goose.DialectSQLite3, begin: "BEGIN IMMEDIATE",
		tables: `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`,
	}
	// READ COMMITTED is enough: every write declares its locks and the counter row orders commits.
	postgres = dialect{
		name: "postgres", goose: goose.DialectPostgres, begin: "BEGIN", advisory: true, numbered: true,
		identity: `SELECT system_identifier || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) FROM pg_control_system()`,
		durable:  `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`,
		stall:    `SELECT set_config('idle_in_transaction_session_timeout', $1, false)`,
		patience: 30 * time.Second,
		tables:   `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`,
		snapshot: sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
	}
)

// retryable says whether the whole group may simply be run again.
func retryable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}
