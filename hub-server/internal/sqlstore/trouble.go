package sqlstore

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	lite "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// busyIfTroubled makes a fault of an error that says that the store takes nothing at the moment: a full disk, no file descriptors, no
// memory, a server that starts or stops. Any other error stays what it is.
func busyIfTroubled(err error) error {
	if !troubled(err) {
		return err
	}
	return fault.Wrap(err, fault.Busy, "The hub can store nothing at the moment, perhaps because its disk is full. Send the same request again later.")
}

func troubled(err error) bool {
	var file *lite.Error
	if errors.As(err, &file) {
		const primary = 0xff
		return slices.Contains([]int{
			sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM,
		}, file.Code()&primary)
	}
	var server *pgconn.PgError
	if errors.As(err, &server) {
		class := server.Code[:min(2, len(server.Code))]
		return slices.Contains([]string{"53", "57", "58"}, class) // insufficient resources, operator intervention, system error
	}
	var connect *pgconn.ConnectError
	return errors.As(err, &connect)
}
