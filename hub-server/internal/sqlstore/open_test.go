package sqlstore

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/testpg"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

func TestAFileIsOpenedByOneHubAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a ?b#c%20d", "hub.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	first, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file is not where it was asked for: %v", err)
	}
	if _, err := Open(t.Context(), path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second hub got %v, want ErrLocked", err)
	}
	epoch := first.Epoch()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if again := openAt(t, path); again.Epoch() != epoch || len(epoch) != 16 {
		t.Errorf("epoch is %q, was %q", again.Epoch(), epoch)
	}
}

func TestHubsThatStartAtOnceAgreeOnSchemaAndEpoch(t *testing.T) {
	address := testpg.Start(t)
	stores := make([]*Store, 3)
	var wg sync.WaitGroup
	for i := range stores {
		wg.Go(func() {
			s, err := Open(t.Context(), address)
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			stores[i] = s
		})
	}
	wg.Wait()
	for _, s := range stores {
		if s == nil {
			continue
		}
		if s.Epoch() != stores[0].Epoch() {
			t.Errorf("epochs are %s and %s", s.Epoch(), stores[0].Epoch())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAWriterStopsWhenTheStoreBecomesAnotherOne(t *testing.T) {
	s := openAt(t, testpg.Start(t))
	if _, err := s.writeDB.ExecContext(t.Context(), `UPDATE store_counter SET epoch = '0000000000000000'`); err != nil {
		t.Fatal(err)
	}
	w := s.NewWriter(slog.New(slog.DiscardHandler), telemetry.NewRegistry("hub"), func(Committed) {})
	done := make(chan error, 1)
	go func() { done <- w.Run(t.Context()) }()
	if err := w.Do(t.Context(), nil, emit("typing")); !errors.Is(err, ErrEpochChanged) {
		t.Errorf("the write got %v, want ErrEpochChanged", err)
	}
	if err := <-done; !errors.Is(err, ErrEpochChanged) {
		t.Errorf("the writer ended with %v, want ErrEpochChanged", err)
	}
}

func TestACheckpointCutsALongWAL(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "hub.db"))
	w := startWriter(t, s)
	c := s.NewCheckpointer(slog.New(slog.DiscardHandler))
	write := func() {
		do(t, w, nil, func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO blob_chunks (upload_id, part, data) VALUES ($1, 0, $2)`, randomKey(), make([]byte, 1<<20))
			return err
		})
	}
	size := func() int64 {
		n, err := c.walSize()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	c.passive, c.restart, c.truncate = 1<<20, 4<<20, 8<<20
	for range 2 {
		write()
	}
	if err := c.checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := size()
	write() // reuses the WAL from its beginning
	if after := size(); after != before {
		t.Errorf("after a checkpoint the WAL grew from %d to %d bytes", before, after)
	}
	for range 6 {
		write()
	}
	if err := c.checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	before = size()
	write() // the WAL has begun anew
	if after := size(); after != before {
		t.Errorf("after a long WAL began anew it grew from %d to %d bytes", before, after)
	}
	for range 10 {
		write()
	}
	if err := c.checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := size(); after != 0 {
		t.Errorf("a long WAL was left with %d bytes", after)
	}
}

func TestAReaderInTheWayHoldsNobodyUp(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "hub.db"))
	w := startWriter(t, s)
	c := s.NewCheckpointer(slog.New(slog.DiscardHandler))
	c.passive, c.restart, c.truncate = 1, 1, 1
	do(t, w, nil, emit("typing"))
	reader, err := s.readDB.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Rollback() //nolint:errcheck // it changed nothing
	var head int
	if err := reader.QueryRowContext(t.Context(), `SELECT outbox_pos FROM store_counter`).Scan(&head); err != nil {
		t.Fatal(err)
	}
	do(t, w, nil, emit("typing"))
	start := time.Now()
	if err := c.checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	do(t, w, nil, emit("typing"))
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("checkpoint and commit took %s beside a reader", took)
	}
}

func TestARequestIsTakenBackOnlyWhileItWaits(t *testing.T) {
	eachStore(t, func(t *testing.T, _ *Store, w *Writer) {
		begun, release := make(chan struct{}), make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() {
			first <- w.Do(ctx, nil, func(context.Context, *Tx) error {
				close(begun)
				<-release
				return nil
			})
		}()
		<-begun
		waiting := make(chan error, 1)
		go func() {
			waiting <- w.Do(ctx, nil, func(context.Context, *Tx) error {
				t.Error("a request ran that its caller had given up")
				return nil
			})
		}()
		cancel()
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("the waiting request got %v", err)
		}
		close(release)
		if err := <-first; err != nil {
			t.Errorf("the begun request got %v, want its outcome", err)
		}
		do(t, w, nil, emit("typing"))
	})
}

func TestMultiRowStatementsNumberTheirPlaceholders(t *testing.T) {
	if got := (bulk{width: 2}).placeholders(true, 2); got != "($1, $2), ($3, $4)" {
		t.Errorf("got %s", got)
	}
	if got := (bulk{width: 2}).placeholders(false, 2); got != "(?, ?), (?, ?)" {
		t.Errorf("got %s", got)
	}
}
