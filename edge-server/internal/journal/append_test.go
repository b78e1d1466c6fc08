package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"pgregory.net/rapid"
)

func deltaOf(t testing.TB, e event.Envelope) string {
	t.Helper()
	var p event.DeltaPayload
	if e.Type != event.Wire(event.MessageDelta) {
		return ""
	}
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		t.Fatal(err)
	}
	return p.Delta
}

func state(text string) run.Candidate {
	return run.Candidate{Type: event.SessionState, Payload: event.SessionStatePayload{State: text}}
}

func TestRowsAreNumberedFromOneWithoutHoles(t *testing.T) {
	j := open(t, options(t.TempDir()))
	r := id.NewRun()
	for range 3 {
		if err := j.Commit(t.Context(), origin(r), state("<busy>")); err != nil {
			t.Fatal(err)
		}
	}
	found := rows(t, j.Journal, 1)
	if len(found) != 3 {
		t.Fatalf("got %d rows", len(found))
	}
	for i, e := range found {
		if e.Seq != uint64(i+1) || e.Scope.RunID != r || string(e.Payload) != `{"state":"<busy>"}` {
			t.Errorf("row %d is %+v", i+1, e)
		}
	}
	if s := j.State(); s.Head != 3 || s.Floor != 1 {
		t.Errorf("state is %+v", s)
	}
}

func TestReopenedJournalContinuesWhereItStopped(t *testing.T) {
	home := t.TempDir()
	first := open(t, options(home))
	r := id.NewRun()
	if err := first.Append(t.Context(), origin(r), delta("msg_1", "one")); err != nil {
		t.Fatal(err)
	}
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	before := first.State()
	second := open(t, options(home))
	if err := second.Commit(t.Context(), origin(r), completed()); err != nil {
		t.Fatal(err)
	}
	after := second.State()
	if before.Head != 1 || after.Head != 2 || after.Incarnation != before.Incarnation || after.BootNonce == before.BootNonce {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if err := second.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSecondProcessIsKeptOut(t *testing.T) {
	opts := options(t.TempDir())
	open(t, opts)
	if _, err := journal.Open(t.Context(), opts); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("got %v", err)
	}
}

func TestStoppedJournalRefusesAppends(t *testing.T) {
	j := open(t, options(t.TempDir()))
	if err := j.stop(); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), origin(id.NewRun()), state("late")); !errors.Is(err, journal.ErrStopped) {
		t.Errorf("got %v", err)
	}
}

func TestFlushCoversEverythingAppendedBefore(t *testing.T) {
	j := open(t, options(t.TempDir()))
	r := id.NewRun()
	for range 200 {
		if err := j.Append(t.Context(), origin(r), state("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Flush(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if head := j.State().Head; head != 200 {
		t.Errorf("head is %d", head)
	}
}

// However deltas merge, the text of a run and the order of its other events are what was appended, run by run, and the rows of all runs
// together are numbered without a hole.
func TestMergingKeepsTextAndOrder(t *testing.T) {
	j := open(t, options(t.TempDir()))
	rapid.Check(t, func(rt *rapid.T) {
		from := j.State().Head + 1
		want := map[id.Run]string{}
		parts := supervise.NewGroup(context.Background())
		for range 3 {
			r := id.NewRun()
			var events []run.Candidate
			for i, piece := range rapid.SliceOfN(rapid.StringN(0, 40, 80), 1, 60).Draw(rt, "pieces") {
				want[r] += piece
				events = append(events, delta("msg_1", piece))
				if i%7 == 6 {
					want[r] += "|"
					events = append(events, state("s"))
				}
			}
			parts.Go(func(ctx context.Context) error { return j.Append(ctx, origin(r), events...) })
		}
		if err := parts.Wait(); err != nil {
			rt.Fatal(err)
		}
		got := map[id.Run]string{}
		for r := range want {
			if err := j.Flush(context.Background(), r); err != nil {
				rt.Fatal(err)
			}
		}
		for i, e := range rows(t, j.Journal, from) {
			if e.Seq != uint64(from)+uint64(i) {
				rt.Fatalf("row %d from %d has number %d", i, from, e.Seq)
			}
			if e.Type == event.Wire(event.SessionState) {
				got[e.Scope.RunID] += "|"
			}
			got[e.Scope.RunID] += deltaOf(t, e)
		}
		for r := range want {
			if got[r] != want[r] {
				rt.Fatalf("run %s: got %q, want %q", r, got[r], want[r])
			}
		}
	})
	if err := j.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	home := filepath.Join(t.TempDir(), "50% of #1?") // a folder may be called anything
	j := open(t, options(home))
	must(t, j.Commit(t.Context(), origin(id.NewRun()), state("a"), large()))
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return err
	})
	must(t, err)
}
