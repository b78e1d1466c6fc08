package testpg

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(Main(m)) }

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestADatabaseAnswers(t *testing.T) {
	t.Parallel()
	var one int
	if err := open(t, Start(t)).QueryRowContext(t.Context(), "select 1").Scan(&one); err != nil || one != 1 {
		t.Fatalf("select 1 = %d, %v", one, err)
	}
}

func TestEachTestHasAnEmptyDatabaseOfTheSameServer(t *testing.T) {
	t.Parallel()
	first, second := open(t, Start(t)), open(t, Start(t))
	if _, err := first.ExecContext(t.Context(), "create table seen (n int)"); err != nil {
		t.Fatal(err)
	}
	if _, err := second.ExecContext(t.Context(), "create table seen (n int)"); err != nil {
		t.Fatalf("the second database is not empty: %v", err)
	}
	if a, b := dataDirectory(t, first), dataDirectory(t, second); a != b {
		t.Fatalf("two servers: %s and %s", a, b)
	}
}

func dataDirectory(t *testing.T, db *sql.DB) (dir string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "show data_directory").Scan(&dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestCommitsAreAsDurableAsInProduction(t *testing.T) {
	t.Parallel()
	db := open(t, Start(t))
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		var value string
		if err := db.QueryRowContext(t.Context(), "show "+setting).Scan(&value); err != nil || value != "on" {
			t.Errorf("%s = %q, %v; want on", setting, value, err)
		}
	}
}

func TestADatabaseIsDroppedWithItsTestEvenIfConnectionsStayOpen(t *testing.T) {
	t.Parallel()
	var gone *sql.DB
	t.Run("inner", func(t *testing.T) {
		dsn := Start(t)
		db, err := sql.Open("pgx", dsn)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		gone = db
	})
	if gone == nil {
		t.Skip("PostgreSQL is not installed here")
	}
	defer gone.Close()
	if err := gone.PingContext(t.Context()); err == nil {
		t.Fatal("the database outlived its test")
	}
}

func TestAFailedStartSaysWhyAndLeavesNothing(t *testing.T) {
	where, err := findBinaries()
	if err != nil {
		t.Skip(err)
	}
	temp := t.TempDir()
	if err := os.Chmod(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	where.postgres = where.initdb
	if _, err := startServer(where); err == nil {
		t.Fatal("a server that is no server started")
	}
	left, err := filepath.Glob(filepath.Join(temp, "*"))
	if err != nil || len(left) != 0 {
		t.Fatalf("left behind: %v, %v", left, err)
	}
}

func TestTheNewestVersionIsPreferred(t *testing.T) {
	for dir, want := range map[string]float64{
		"/usr/lib/postgresql/9.6/bin":         9.6,
		"/usr/lib/postgresql/15/bin":          15,
		"/usr/pgsql-17/bin":                   17,
		"/opt/homebrew/opt/postgresql@16/bin": 16,
		"/bin":                                0,
	} {
		if got := version(dir); got != want {
			t.Errorf("version(%s) = %v, want %v", dir, got, want)
		}
	}
}
