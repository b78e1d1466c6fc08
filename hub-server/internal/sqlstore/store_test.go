package sqlstore

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/testpg"
	"github.com/switchyard-dev/switchyard/hub-server/internal/testsqlite"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashStore); path != "" {
		commitUntilKilled(path)
		return
	}
	if setting := os.Getenv(askingStore); setting != "" {
		askUntilKilled(setting)
		return
	}
	if setting := os.Getenv(archivingStore); setting != "" {
		archiveUntilKilled(setting)
		return
	}
	goleak.VerifyTestMain(testpg.Main(m))
}

// eachStore runs a contract over a fresh SQLite store and a fresh PostgreSQL store, each with a running writer.
func eachStore(t *testing.T, contract func(t *testing.T, s *Store, w *Writer)) {
	t.Helper()
	for name, address := range addresses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openAt(t, address(t))
			contract(t, s, startWriter(t, s))
		})
	}
}

func addresses() map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{
		"sqlite":   migratedFile,
		"postgres": migratedPostgres,
	}
}

// migratedPostgres is a database whose schema is up to date.
func migratedPostgres(tb testing.TB) string {
	tb.Helper()
	return testpg.StartPrepared(tb, migrated)
}

// migratedFile is a file whose schema is up to date.
func migratedFile(tb testing.TB) string {
	tb.Helper()
	path := newFile(tb)
	testsqlite.Put(tb, path, migrated)
	return path
}

func migrated(address string) error {
	s, err := Open(context.Background(), address)
	if err != nil {
		return err
	}
	return s.Close()
}

func newFile(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "hub.db")
}

func openAt(tb testing.TB, address string) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), address)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close store: %v", err)
		}
	})
	return s
}

// startWriter runs a writer of s until the test ends. Several writers of one store stand for several hubs.
func startWriter(tb testing.TB, s *Store) *Writer {
	tb.Helper()
	return startWriterThen(tb, s, func(Committed) {})
}

func startWriterThen(tb testing.TB, s *Store, committed func(Committed)) *Writer {
	tb.Helper()
	w := s.NewWriter(slog.New(slog.DiscardHandler), telemetry.NewRegistry("hub"), committed)
	ctx, stop := context.WithCancel(context.WithoutCancel(tb.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	tb.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			tb.Errorf("writer: %v", err)
		}
	})
	return w
}

// do is a write that must succeed.
func do(tb testing.TB, w *Writer, locks []Lock, fn func(context.Context, *Tx) error) {
	tb.Helper()
	if err := w.Do(tb.Context(), locks, fn); err != nil {
		tb.Fatal(err)
	}
}
