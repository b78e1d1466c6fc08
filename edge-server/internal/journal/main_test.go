package journal_test

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if home := os.Getenv(victimHome); home != "" {
		appendForEver(home)
	}
	goleak.VerifyTestMain(m)
}

// opened is a journal whose writer runs.
type opened struct {
	*journal.Journal
	stop func() error // stops the writer, then closes the file
}

func options(home string) journal.Options {
	return journal.Options{Home: home, Cap: 64 << 20, Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("edge")}
}

// open opens the journal in opts.Home and stops it at the end of the test, unless the test did.
func open(t testing.TB, opts journal.Options) *opened {
	t.Helper()
	j, err := journal.Open(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	parts := supervise.NewGroup(context.Background())
	parts.Go(j.Run)
	stopped := false
	stop := func() error {
		if stopped {
			return nil
		}
		stopped = true
		parts.Cancel()
		if err := parts.Wait(); err != nil {
			return err
		}
		return j.Close()
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return &opened{Journal: j, stop: stop}
}

func origin(r id.Run) journal.Origin {
	return journal.Origin{Scope: event.Scope{RunID: r, ConversationID: "sess_1", EdgeID: "edge_1"}}
}

func delta(m id.Message, text string) run.Candidate {
	return run.Candidate{Type: event.MessageDelta, Payload: event.DeltaPayload{MessageID: m, Delta: text}}
}

func completed() run.Candidate {
	return run.Candidate{Type: event.RunCompleted, Payload: event.RunCompletedPayload{}}
}

// rows reads everything from a number on.
func rows(t testing.TB, j *journal.Journal, from wire.ProducerSeq) []event.Envelope {
	t.Helper()
	var found []event.Envelope
	for {
		batch, err := j.Read(t.Context(), from, wire.DefaultFrame)
		if err != nil {
			t.Fatal(err)
		}
		if len(batch.Rows) == 0 {
			return found
		}
		for _, row := range batch.Rows {
			e, err := event.ParseRow(row)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, e)
		}
		from = batch.Last() + 1
	}
}

// openStill opens a journal that nobody writes.
func openStill(t *testing.T, opts journal.Options) *journal.Journal {
	t.Helper()
	j, err := journal.Open(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// startAll runs fns until stop is called or the test ends.
func startAll(t *testing.T, fns ...func(context.Context) error) (stop func()) {
	t.Helper()
	group := supervise.NewGroup(context.Background())
	for _, fn := range fns {
		group.Go(fn)
	}
	stop = sync.OnceFunc(func() {
		group.Cancel()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// eventually waits until is holds; nothing announces it.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	deadline := time.After(20 * time.Second)
	for !is() {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("never happened: %s", what)
		}
	}
}
