package sqlstore

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// crashStore makes this test binary a process that commits to the SQLite file of that name until somebody kills it.
const crashStore = "SQLSTORE_TEST_COMMIT_TO"

const crashes = 6

// A hub that is killed in the middle of committing loses nothing that it acknowledged, keeps no half of a frame, and goes on where the
// watermark says.
func TestAKilledProcessLosesNothingItAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hub.db")
	seedCrash(t, path)
	random := chanceOf(t).part(0)
	for range crashes {
		acknowledged := killedCommitter(t, path, random)
		watermark := checkAfterCrash(t, path)
		if watermark < acknowledged {
			t.Fatalf("row %d was acknowledged, the store holds up to %d", acknowledged, watermark)
		}
	}
}

// The edge and the run of the crash test are the same in every process.
const (
	crashEdge = id.Edge("edge_018f0000-0000-7000-8000-000000000001")
	crashRun  = id.Run("run_00000000000000ff")
)

func crashHello() wire.Hello {
	return wire.Hello{Incarnation: "00000000000000aa", BootNonce: "00000000000000bb", Floor: 1}
}

func seedCrash(t *testing.T, path string) {
	t.Helper()
	s := openAt(t, path)
	w, stop := runWriter(s)
	r := newRecord(t, s, w)
	n := r.start(t, r.conversation(t))
	do(t, w, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `UPDATE runs SET run_id = $1, edge_id = $2, state = 'running' WHERE run_id = $3`,
			string(crashRun), string(crashEdge), string(n.ID))
		return err
	})
	stop()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func runWriter(s *Store) (*Writer, func()) {
	w := s.NewWriter(slog.New(slog.DiscardHandler), telemetry.NewRegistry("hub"), func(Committed) {})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx) //nolint:errcheck // fails only when the store becomes another one
	}()
	return w, func() { cancel(); <-done }
}

// killedCommitter lets a child commit for a moment, kills it, and returns the last watermark that it acknowledged.
func killedCommitter(t *testing.T, path string, random *rand.Rand) (acknowledged wire.ProducerSeq) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), crashStore+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	kill, after := 20+random.IntN(60), time.Duration(random.IntN(3000))*time.Microsecond // acknowledged frames, and since the last of them
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if _, err := fmt.Sscanf(lines.Text(), "%d", &acknowledged); err != nil {
			t.Fatalf("child says %q", lines.Text())
		}
		if n == kill {
			time.AfterFunc(after, func() { child.Process.Kill() }) //nolint:errcheck // Wait tells
		}
	}
	if err := child.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("child ended with %v, want to be killed", err)
	}
	return acknowledged
}

// commitUntilKilled prints each acknowledged watermark. It is the whole life of the child process.
func commitUntilKilled(path string) {
	s, err := Open(context.Background(), path)
	if err != nil {
		fmt.Println("open:", err) //nolint:forbidigo // the parent reads it
		return
	}
	w, stop := runWriter(s)
	defer stop()
	store := NewRunlog(s, w, "hub")
	lane, _, err := store.OpenLane(context.Background(), crashEdge, crashHello())
	for err == nil {
		var res runlog.LaneResult
		res, err = store.CommitFrame(context.Background(), crashFrame(lane))
		lane.Watermark, lane.Chain = res.Watermark, res.Chain
		fmt.Println(uint64(res.Watermark)) //nolint:forbidigo // the parent reads it
	}
	fmt.Println("commit:", err) //nolint:forbidigo // the parent reads it
}

func crashFrame(lane runlog.LaneState) runlog.LaneFrame {
	f := wire.Frame{First: lane.Watermark + 1}
	for i := range 7 {
		seq := uint64(lane.Watermark) + uint64(i) + 1
		row, err := event.AppendRow(nil, event.Envelope{
			Version: event.Version, ID: id.NewEvent(), Seq: seq, Type: wireDelta, Scope: event.Scope{RunID: crashRun},
			SentAt: time.Now(), Payload: json.RawMessage(fmt.Sprintf(`{"delta":"%d"}`, seq)),
		})
		if err != nil {
			panic(err)
		}
		f.Rows = append(f.Rows, row)
	}
	return runlog.PrepareFrame(crashEdge, lane, f)
}

// checkAfterCrash opens the store like a hub that starts again and returns the watermark.
func checkAfterCrash(t *testing.T, path string) wire.ProducerSeq {
	t.Helper()
	s := openAt(t, path)
	w, stop := runWriter(s)
	r := newRecord(t, s, w)
	lane, err := r.Lanes.Open(t.Context(), crashEdge, crashHello())
	if err != nil {
		t.Fatal(err)
	}
	log := r.logOf(t, crashRun)
	if wire.ProducerSeq(len(log)) != lane.Watermark || lane.Watermark%7 != 0 {
		t.Fatalf("the log has %d events, the watermark is %d", len(log), lane.Watermark)
	}
	for i, e := range log {
		if want := fmt.Sprintf(`{"delta":"%d"}`, i+1); e.Seq != runlog.EventSeq(i+1) || e.ProducerSeq != wire.ProducerSeq(i+1) || string(e.Payload) != want {
			t.Fatalf("event %d is number %d, row %d: %s", i+1, e.Seq, e.ProducerSeq, e.Payload)
		}
	}
	bounds, err := s.Bounds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := s.Rows(t.Context(), 0, 1<<20)
	if err != nil || delivery.Position(len(rows)) != bounds.Head {
		t.Fatalf("the outbox has %d rows, its head is %d: %v", len(rows), bounds.Head, err)
	}
	stop()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return lane.Watermark
}
