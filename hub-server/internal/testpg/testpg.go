// Package testpg gives tests a PostgreSQL server of their own: made in a temporary folder, reachable only through a
// socket in that folder, gone when the test binary ends. It never touches a server that is already running here.
package testpg

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// shared is the one server of this test binary. It outlives every single test, so no test can own it; Main ends it.
var shared struct {
	start, prepare sync.Once
	server         *server // nil if it could not be started
	err            error   // of start or prepare; a failed attempt is not repeated: it would fail for the same reason, a minute later
	databases      atomic.Int64
}

// Start returns the address of a new, empty database for tb, usable as HUB_DATABASE_URL. The database is dropped when
// tb ends. The first call of a test binary starts the server (one to two seconds), so the binary must have a TestMain
// that uses Main. Without PostgreSQL on this machine tb is skipped, and fails instead if CI=true. It may be called
// from several tests at once.
func Start(tb testing.TB) (dsn string) {
	tb.Helper()
	return running(tb).database(tb, "")
}

// StartPrepared is Start for a database in which prepare has run, to migrate it say. Only the first call of a test binary runs
// prepare; everybody gets a copy of what it made, which takes a fraction of the time.
func StartPrepared(tb testing.TB, prepare func(dsn string) error) (dsn string) {
	tb.Helper()
	s := running(tb)
	shared.prepare.Do(func() {
		if shared.err = s.exec("CREATE DATABASE " + template); shared.err == nil {
			shared.err = prepare(s.dsn(template))
		}
	})
	if shared.err != nil {
		tb.Fatalf("prepare a database: %v", shared.err)
	}
	return s.database(tb, " TEMPLATE "+template)
}

// template is the database that StartPrepared copies. Nothing may be connected to it.
const template = "prepared"

// running returns the server of this test binary, which the first call starts.
func running(tb testing.TB) *server {
	tb.Helper()
	where, err := findBinaries()
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatalf("CI=true needs PostgreSQL: %v", err)
		}
		tb.Skipf("needs PostgreSQL: %v (scripts/test-services.sh installs it)", err)
	}
	shared.start.Do(func() { shared.server, shared.err = startServer(where) })
	if shared.server == nil {
		tb.Fatalf("start a private PostgreSQL: %v", shared.err)
	}
	return shared.server
}

// database makes one that is dropped when tb ends.
func (s *server) database(tb testing.TB, options string) (dsn string) {
	tb.Helper()
	name := fmt.Sprintf("test_%d", shared.databases.Add(1))
	if err := s.exec("CREATE DATABASE " + name + options); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			tb.Error(err)
		}
	})
	return s.dsn(name)
}

// Main wraps the M of a TestMain so that the server ends after the last test:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(testpg.Main(m)) }
func Main(m *testing.M) Runner { return Runner{tests: m} }

// Runner runs the tests of a binary and then stops the server, if one was started.
type Runner struct{ tests *testing.M }

// Run returns the exit code of the tests, or 1 if they passed and the server could not be stopped.
func (r Runner) Run() int {
	code := r.tests.Run()
	if shared.server == nil {
		return code
	}
	if err := shared.server.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "testpg:", err)
		return max(code, 1)
	}
	return code
}

// dsn is the address of one database of s.
func (s *server) dsn(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User(superuser),
		Path:     "/" + database,
		RawQuery: url.Values{"host": {s.socketDir()}, "sslmode": {"disable"}}.Encode(),
	}
	return u.String()
}

// exec runs one statement outside a transaction, in the database every server has.
func (s *server) exec(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.dsn("postgres"))
	if err != nil {
		return fmt.Errorf("connect to the private PostgreSQL: %w", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
