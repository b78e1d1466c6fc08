package sqlstore

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/archive"
	"github.com/switchyard-dev/switchyard/hub-server/internal/retention"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// archivingStore makes this test binary a hub that archives until it is killed; its value is an archivingHub.
const archivingStore = "SQLSTORE_TEST_ARCHIVE"

// Points at which such a hub stops, says so, and is killed.
const (
	pointClaimed  = "claimed"  // it will write the file
	pointWritten  = "written"  // the file is on disk, the store does not say so
	pointLeft     = "left"     // the store says so, the events are still there
	pointRemoving = "removing" // some of them are
)

// archivingHub is what such a process is told.
type archivingHub struct {
	Path, Dir, Point string
}

// A hub that is killed anywhere between the first byte of a file and the last event that goes loses nothing, keeps nothing twice, and the next
// one finishes what it has begun.
func TestAKilledHubLosesNothingOfARunThatLeaves(t *testing.T) {
	for _, point := range []string{pointClaimed, pointWritten, pointLeft, pointRemoving} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			hub := archivingHub{Path: newFile(t), Dir: filepath.Join(t.TempDir(), "archive"), Point: point}
			before := map[id.Run][]runlog.StoredEvent{}
			t.Run("fill", func(t *testing.T) {
				s := openAt(t, hub.Path)
				k := newKeeper(t, newRecord(t, s, startWriter(t, s)), "first")
				j := k.edge(t)
				for range 3 {
					run := k.ended(t, j, 40)
					before[run.ID] = k.logOf(t, run.ID)
				}
				k.forget(t)
			})
			hub.killed(t)
			s := openAt(t, hub.Path)
			k := newKeeper(t, newRecord(t, s, startWriter(t, s)), "second")
			k.dir = archive.Dir(hub.Dir)
			k.readable(t, before)
			k.pass(t, month, agesLater())
			for run, events := range before {
				k.gone(t, run, 40)
				if got := k.archived(t, run); !reflect.DeepEqual(got, events) || k.stored(t, run) != 0 {
					t.Errorf("%s has %d events in archives and %d in the store", run, len(got), k.stored(t, run))
				}
			}
			k.bytesAgree(t)
		})
	}
}

// readable fails unless each event is either in the store or in an archive that the store knows.
func (k *keeper) readable(t *testing.T, before map[id.Run][]runlog.StoredEvent) {
	t.Helper()
	for run, events := range before {
		floor := k.get(t, run).Floor
		got := k.archived(t, run)
		page, err := k.Runs.Events(t.Context(), run, floor, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, page.Events...); !reflect.DeepEqual(got, events) {
			t.Errorf("after the crash %s has %d events, with floor %d", run, len(got), floor)
		}
	}
}

func (h archivingHub) killed(t *testing.T) {
	t.Helper()
	setting, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env, child.Stderr = append(os.Environ(), archivingStore+"="+string(setting)), os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if said, err := bufio.NewReader(out).ReadString('\n'); err != nil || said != h.Point+"\n" {
		t.Errorf("child says %q, %v", said, err)
	}
	child.Process.Kill() //nolint:errcheck // Wait tells
	if err := child.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("child ended with %v, want to be killed", err)
	}
}

// archiveUntilKilled is the whole life of the child process.
func archiveUntilKilled(setting string) {
	var h archivingHub
	err := json.Unmarshal([]byte(setting), &h)
	if err == nil {
		err = h.archive(context.Background())
	}
	fmt.Println("archive:", err) //nolint:forbidigo // the parent reads it
}

func (h archivingHub) archive(ctx context.Context) error {
	s, err := Open(ctx, h.Path)
	if err != nil {
		return err
	}
	w, stop := runWriter(s)
	defer stop()
	logs := stopping{Logs: NewArchives(s, w, "child"), point: h.Point}
	a := retention.NewArchiver(&logs, nil, archive.Dir(h.Dir), month, slog.New(slog.DiscardHandler), telemetry.NewRegistry("hub"))
	return a.Pass(ctx, agesLater())
}

// stopping is a store that a hub gets no further with than to a point, at its second run.
type stopping struct {
	retention.Logs
	point string
	left  int // runs
	slice int
}

func (s *stopping) stop(at string) {
	if s.point == at && s.left > 0 {
		fmt.Println(at) //nolint:forbidigo // the parent reads it
		select {}
	}
}

func (s *stopping) Kept(ctx context.Context, run id.Run, after runlog.EventSeq, limit int) ([]archive.Event, error) {
	s.stop(pointClaimed)
	return s.Logs.Kept(ctx, run, after, limit)
}

func (s *stopping) Leave(ctx context.Context, l retention.Leaving, sum archive.Summary, kept int64) (bool, error) {
	s.stop(pointWritten)
	left, err := s.Logs.Leave(ctx, l, sum, kept)
	s.stop(pointLeft)
	s.left++
	s.slice = 0
	return left, err
}

func (s *stopping) Remove(ctx context.Context, _ int) (int, time.Duration, error) {
	if s.slice++; s.slice > 1 && s.left > 1 {
		s.stop(pointRemoving)
	}
	return s.Logs.Remove(ctx, 10)
}
