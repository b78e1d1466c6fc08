package sqlstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/archive"
	"github.com/switchyard-dev/switchyard/hub-server/internal/peer"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/canonical"
	"github.com/switchyard-dev/switchyard/hub-server/internal/retention"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// agesLater is when every run has been quiet for long enough.
func agesLater() time.Time { return time.Now().Add(1000 * time.Hour) }

// keeper is a record whose ended runs leave.
type keeper struct {
	*record
	logs *Archives
	dir  archive.Dir
}

func newKeeper(tb testing.TB, r *record, me peer.ID) *keeper {
	tb.Helper()
	return &keeper{record: r, logs: NewArchives(r.store, r.writer, me), dir: archive.Dir(filepath.Join(tb.TempDir(), "archive"))}
}

func eachKeeper(t *testing.T, contract func(t *testing.T, k *keeper)) {
	t.Helper()
	eachRecord(t, func(t *testing.T, r *record) { contract(t, newKeeper(t, r, "me")) })
}

func (k *keeper) archiver(policy retention.Policy) *retention.Archiver {
	return retention.NewArchiver(k.logs, nil, k.dir, policy, slog.New(slog.DiscardHandler), telemetry.NewRegistry("hub"))
}

// pass lets runs leave that may at that time.
func (k *keeper) pass(tb testing.TB, policy retention.Policy, now time.Time) {
	tb.Helper()
	if err := k.archiver(policy).Pass(tb.Context(), now); err != nil {
		tb.Fatal(err)
	}
}

// month is a policy by which runs stay for a month.
var month = retention.Policy{Age: 720 * time.Hour}

// forget trims the outbox: no device is owed anything any more.
func (k *keeper) forget(tb testing.TB) {
	tb.Helper()
	if _, _, err := NewTrim(k.writer).TrimOutbox(tb.Context(), agesLater(), 1_000_000); err != nil {
		tb.Fatal(err)
	}
}

// ended is a run of n events with payloads of all sorts, the last of which is its outcome.
func (k *keeper) ended(tb testing.TB, j *journal, n int) runlog.NewRun {
	tb.Helper()
	run := k.start(tb, k.conversation(tb))
	j.write(tb, run.ID, wireStarted, json.RawMessage(`{"started_at":"2026-01-02T03:04:05Z"}`))
	for i := range n - 2 {
		j.write(tb, run.ID, wireDelta, json.RawMessage(fmt.Sprintf("{\n\t\"delta\":\"%d <é>\\u2028\",\r\n \"n\": 1.0 , \"big\":1e400}", i)))
	}
	j.write(tb, run.ID, wireFinished, json.RawMessage(`{}`))
	for int(j.lane.Watermark) < len(j.rows) {
		j.send(tb, k.record, int(j.lane.Watermark)+1, min(len(j.rows), int(j.lane.Watermark)+50))
	}
	return run
}

func (k *keeper) edge(tb testing.TB) *journal {
	tb.Helper()
	j := newJournal(k.fleet.add(true))
	j.open(tb, k.record)
	return j
}

// archived reads all events of a run that are in archives, from the files alone.
func (k *keeper) archived(tb testing.TB, run id.Run) (events []runlog.StoredEvent) {
	tb.Helper()
	all, err := k.store.Archived(tb.Context(), run)
	for _, a := range all {
		err = errors.Join(err, k.dir.Read(a.File, func(_ archive.Header, e archive.Event) error {
			events = append(events, e.StoredEvent)
			return nil
		}))
	}
	if err != nil {
		tb.Fatal(err)
	}
	return events
}

// stored counts the events of a run in the table.
func (k *keeper) stored(tb testing.TB, run id.Run) (n int) {
	tb.Helper()
	if err := k.store.readDB.QueryRowContext(tb.Context(), `SELECT COUNT(*) FROM run_events WHERE run_id = $1`, string(run)).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

// bytesAgree holds the count of bytes to the sum of what is there.
func (k *keeper) bytesAgree(tb testing.TB) {
	tb.Helper()
	var sum int64
	err := k.store.readDB.QueryRowContext(tb.Context(), `SELECT CAST(COALESCE(SUM(length(payload)), 0) AS BIGINT) FROM run_events`).Scan(&sum)
	kept, countErr := k.logs.Bytes(tb.Context())
	if err := errors.Join(err, countErr); err != nil || sum != kept {
		tb.Errorf("%d bytes of payloads are kept, the count is %d, %v", sum, kept, err)
	}
}

// gone fails unless the run's events are in archives up to floor, and cannot be read here.
func (k *keeper) gone(tb testing.TB, run id.Run, floor runlog.EventSeq) {
	tb.Helper()
	_, err := k.Runs.Events(tb.Context(), run, floor-1, 0)
	var expired *runlog.Expired
	if !errors.As(err, &expired) || expired.Floor != floor || fault.CodeOf(err) != fault.EventsExpired {
		tb.Errorf("%s from below %d: %v", run, floor, err)
	}
	if found := k.get(tb, run); found.Floor != floor {
		tb.Errorf("%s has floor %d, want %d", run, found.Floor, floor)
	}
}

func lines(run runlog.NewRun, view canonical.View, events []runlog.StoredEvent) string {
	var out []byte
	for _, e := range events {
		p := canonical.Projection{View: view, Agent: run.Agent, AgentChecksum: run.AgentChecksum}
		out = append(append(out, canonical.OneLine(p.Append(nil, e))...), '\n')
	}
	return string(out)
}

func TestARunLeavesByteForByteAndStaysAsARun(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		run := k.ended(t, k.edge(t), 1203) // more than two pages
		before, was := k.logOf(t, run.ID), k.get(t, run.ID)
		k.bytesAgree(t)
		k.forget(t)
		k.pass(t, month, agesLater())
		k.gone(t, run.ID, 1203)
		if n := k.stored(t, run.ID); n != 0 {
			t.Errorf("%d events are still stored", n)
		}
		k.bytesAgree(t)
		got := k.archived(t, run.ID)
		if !reflect.DeepEqual(got, before) {
			t.Fatalf("%d events went, %d are in the archive, or others", len(before), len(got))
		}
		for _, view := range []canonical.View{canonical.Lean, canonical.Full} {
			if lines(run, view, got) != lines(run, view, before) {
				t.Errorf("%s events read otherwise", view)
			}
		}
		now := k.get(t, run.ID)
		if now.Floor = 0; !reflect.DeepEqual(now, was) {
			t.Errorf("the run has become %+v, it was %+v", now, was)
		}
		page, err := k.Runs.Events(t.Context(), run.ID, 1203, 0)
		if err != nil || len(page.Events) != 0 || page.Last != 1203 {
			t.Errorf("behind the last event: %+v, %v", page, err)
		}
		k.pass(t, month, agesLater())
		if all, err := k.store.Archived(t.Context(), ""); err != nil || len(all) != 1 {
			t.Errorf("archives %+v, %v", all, err)
		}
	})
}

func TestOnlyARunThatIsOverForGoodLeaves(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		j := k.edge(t)
		open := k.start(t, k.conversation(t))
		j.write(t, open.ID, wireStarted, json.RawMessage(`{}`))
		over := k.ended(t, j, 3)
		stays := func(why string, now time.Time) {
			t.Helper()
			k.pass(t, month, now)
			if k.stored(t, over.ID) != 3 || k.stored(t, open.ID) != 1 {
				t.Fatalf("it left although %s", why)
			}
		}
		stays("devices may still be told of it", agesLater())
		k.forget(t)
		stays("it is young", time.Now().Add(719*time.Hour))
		do(t, k.writer, nil, func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, `UPDATE run_events SET recorded_at = $2 WHERE run_id = $1 AND event_seq = 3`, string(over.ID), micros(agesLater()))
			return err
		})
		stays("something has just come", agesLater().Add(time.Hour))
		do(t, k.writer, nil, func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, `UPDATE run_events SET recorded_at = 1 WHERE run_id = $1`, string(over.ID))
			return err
		})
		k.question(t, over.ID, "pending")
		stays("a question is open", agesLater())
		k.question(t, over.ID, "answered")
		k.pass(t, month, agesLater())
		k.gone(t, over.ID, 3)
		if k.stored(t, open.ID) != 1 {
			t.Error("an open run has left")
		}
	})
}

func TestNoRunLeavesWhileAHubLivesThatCannotReadWhatIsLeft(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		run := k.ended(t, k.edge(t), 3)
		k.forget(t)
		old := older(k.store, k.writer)
		if err := old.Announce(t.Context(), "old", time.Now()); err != nil {
			t.Fatal(err)
		}
		k.pass(t, month, agesLater())
		if k.stored(t, run.ID) != 3 {
			t.Error("it has left")
		}
		if err := old.Leave(t.Context(), "old"); err != nil {
			t.Fatal(err)
		}
		k.pass(t, month, agesLater())
		k.gone(t, run.ID, 3)
	})
}

// question puts one question of a run into that state, without its events.
func (k *keeper) question(t *testing.T, run id.Run, state string) {
	t.Helper()
	do(t, k.writer, nil, func(ctx context.Context, tx *Tx) error {
		err := tx.insertPrompt(ctx, run, runlog.Question{ID: "req_0123456789abcdef", Kind: "question", Payload: []byte(`{}`), Seq: 2})
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE prompts SET state = $1`, state)
		}
		return err
	})
}

// What comes for a run that has left is appended behind the floor, read there, and leaves in its turn.
func TestARowThatComesAfterItsRunHasLeftIsKept(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		j := k.edge(t)
		run := k.ended(t, j, 5)
		before := k.logOf(t, run.ID)
		k.forget(t)
		k.pass(t, month, agesLater())
		j.write(t, run.ID, wireDelta, json.RawMessage(`{"delta":"late"}`))
		j.write(t, run.ID, wireFailed, json.RawMessage(`{"error":{"code":"agent_error","message":"x"}}`))
		if res := j.flush(t, k.record); len(res.Refused) != 0 {
			t.Fatalf("refused %v", res.Refused)
		}
		k.gone(t, run.ID, 5)
		page, err := k.Runs.Events(t.Context(), run.ID, 5, 0)
		if err != nil || len(page.Events) != 2 || page.Events[0].Seq != 6 || !page.Events[1].Late || page.Last != 7 {
			t.Fatalf("behind the floor: %+v, %v", page, err)
		}
		k.bytesAgree(t)
		k.pass(t, month, agesLater())
		k.gone(t, run.ID, 5) // devices may still be told of them
		k.forget(t)
		k.pass(t, month, agesLater())
		k.gone(t, run.ID, 7)
		if got := k.archived(t, run.ID); !reflect.DeepEqual(got, append(before, page.Events...)) {
			t.Errorf("in archives are %d events: %v", len(got), typesOf(got))
		}
		k.bytesAgree(t)
	})
}

func TestTheRunsThatEndedFirstLeaveWhileTooMuchIsKept(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		j := k.edge(t)
		var runs []runlog.NewRun
		for range 6 {
			runs = append(runs, k.ended(t, j, 20))
		}
		k.forget(t)
		kept, err := k.logs.Bytes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		k.pass(t, retention.Policy{Bytes: kept}, agesLater())
		k.pass(t, retention.Policy{Bytes: kept / 2}, time.Now().Add(retention.LateWindow-time.Minute)) // all are too young
		for i, run := range runs {
			if k.stored(t, run.ID) != 20 {
				t.Errorf("run %d has left though there is room, or it is young", i)
			}
		}
		k.pass(t, retention.Policy{Bytes: kept / 2}, agesLater())
		for i, run := range runs {
			if left := k.stored(t, run.ID) == 0; left != (i < 3) {
				t.Errorf("run %d has left: %v", i, left)
			}
		}
		k.bytesAgree(t)
	})
}

func TestOneHubArchivesARunThoughTwoTry(t *testing.T) {
	eachPair(t, func(t *testing.T, s [2]*Store, w [2]*Writer) {
		const runs = 30
		a := newKeeper(t, newRecord(t, s[0], w[0]), "a")
		b := newKeeper(t, newRecord(t, s[1], w[1]), "b")
		for i, hub := range []peer.ID{"a", "b"} {
			if err := NewPeers(s[i], w[i]).Announce(t.Context(), hub, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		j := a.edge(t)
		for range runs {
			a.ended(t, j, 4)
		}
		a.forget(t)
		done := make(chan error, 2)
		for _, k := range []*keeper{a, b} {
			go func() { done <- k.archiver(month).Pass(t.Context(), agesLater()) }()
		}
		if err := errors.Join(<-done, <-done); err != nil {
			t.Fatal(err)
		}
		all, err := a.store.Archived(t.Context(), "")
		if err != nil || len(all) != runs {
			t.Fatalf("%d archives are recorded, %v", len(all), err)
		}
		inA, inB := files(t, a.dir), files(t, b.dir)
		if len(inA)+len(inB) != runs {
			t.Errorf("one hub wrote %d files, the other %d", len(inA), len(inB))
		}
		t.Logf("%d and %d files", len(inA), len(inB))
		a.bytesAgree(t)
	})
}

func files(t *testing.T, dir archive.Dir) []os.DirEntry {
	t.Helper()
	found, err := os.ReadDir(string(dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

func TestTheClaimOfAHubThatLivesIsRespectedAndThatOfADeadOneIsNot(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		run := k.ended(t, k.edge(t), 4)
		k.forget(t)
		other := NewArchives(k.store, k.writer, "other")
		found, err := k.logs.Leaving(t.Context(), retention.Mark{}, agesLater(), 10)
		if on, beginErr := k.logs.Begin(t.Context()); err != nil || beginErr != nil || !on || len(found) != 1 || found[0].Run != run.ID {
			t.Fatalf("found %+v, %v, %v", found, err, beginErr)
		}
		claim := func(by *Archives, want bool) {
			t.Helper()
			if mine, err := by.Claim(t.Context(), found[0]); err != nil || mine != want {
				t.Fatalf("claimed: %v, %v", mine, err)
			}
		}
		peers := NewPeers(k.store, k.writer)
		if err := peers.Announce(t.Context(), "other", time.Now()); err != nil {
			t.Fatal(err)
		}
		claim(other, true)
		claim(k.logs, false)
		claim(other, true) // after a failure it tries again
		if err := peers.Leave(t.Context(), "other"); err != nil {
			t.Fatal(err)
		}
		claim(k.logs, true)
		s, err := k.dir.Write(found[0].Header, func(w *archive.Writer) error { return fillAll(t.Context(), k, found[0], w) })
		if err != nil {
			t.Fatal(err)
		}
		if left, err := other.Leave(t.Context(), found[0], s); err != nil || left {
			t.Errorf("it left by a claim that was lost: %v, %v", left, err)
		}
		if left, err := k.logs.Leave(t.Context(), found[0], s); err != nil || !left {
			t.Errorf("it left: %v, %v", left, err)
		}
		claim(k.logs, false)
	})
}

func fillAll(ctx context.Context, k *keeper, l retention.Leaving, w *archive.Writer) error {
	events, err := k.logs.Kept(ctx, l.Run, l.From-1, 1000)
	for _, e := range events {
		err = errors.Join(err, w.Add(e))
	}
	return err
}

// Whoever reads while a run leaves gets its events without a hole up to where they are refused.
func TestAReaderNeverMeetsAHoleWhileARunLeaves(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		j := k.edge(t)
		for round := range 5 {
			run := k.ended(t, j, 150)
			k.forget(t)
			done := make(chan error, 1)
			go func() { done <- k.archiver(month).Pass(t.Context(), agesLater()) }()
			for after, expired := runlog.EventSeq(0), false; !expired; {
				page, err := k.Runs.Events(t.Context(), run.ID, after, 7)
				if expired = fault.CodeOf(err) == fault.EventsExpired; err != nil && !expired {
					t.Fatal(err)
				}
				for _, e := range page.Events {
					if e.Seq != after+1 {
						t.Fatalf("round %d: event %d comes after %d", round, e.Seq, after)
					}
					after = e.Seq
				}
				if !expired && len(page.Events) == 0 {
					if after != 150 {
						t.Fatalf("round %d: the log ends at %d", round, after)
					}
					after = 0 // until it has left
				}
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestEventsLeaveInSlices(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		run := k.ended(t, k.edge(t), 100)
		k.forget(t)
		err := retention.NewArchiver(unremoved{k.logs}, nil, k.dir, month, slog.New(slog.DiscardHandler), telemetry.NewRegistry("hub")).Pass(t.Context(), agesLater())
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int
		for left := 100; ; {
			removed, held, err := k.logs.Remove(t.Context(), 30)
			if err != nil {
				t.Fatal(err)
			}
			if removed == 0 {
				break
			}
			sizes, left = append(sizes, removed), left-removed
			if k.stored(t, run.ID) != left || held <= 0 {
				t.Errorf("%d events are left after slices of %v, the last took %v", k.stored(t, run.ID), sizes, held)
			}
			k.gone(t, run.ID, 100)
		}
		if fmt.Sprint(sizes) != "[30 30 30 10]" {
			t.Errorf("slices of %v", sizes)
		}
	})
}

// unremoved is a store from which nothing is removed.
type unremoved struct{ retention.Logs }

func (unremoved) Remove(context.Context, int) (int, time.Duration, error) { return 0, 0, nil }

func TestARunThatAnOlderHubHasEndedLeavesToo(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		run := k.ended(t, k.edge(t), 3)
		do(t, k.writer, nil, func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, `UPDATE runs SET log_pos = 0`)
			return err
		})
		k.pass(t, month, agesLater())
		if k.stored(t, run.ID) != 3 {
			t.Error("it left before the outbox had passed it")
		}
		k.forget(t)
		k.pass(t, month, agesLater())
		k.gone(t, run.ID, 3)
	})
}

// A backup with a run that has left, and the folder of archives, are the whole record.
func TestABackupKeepsWhatIsKnownOfArchives(t *testing.T) {
	address := newFile(t)
	var want []Archived
	t.Run("fill", func(t *testing.T) {
		s := openAt(t, address)
		k := newKeeper(t, newRecord(t, s, startWriter(t, s)), "me")
		run := k.ended(t, k.edge(t), 3)
		k.forget(t)
		k.pass(t, month, agesLater())
		k.gone(t, run.ID, 3)
		want, _ = s.Archived(t.Context(), run.ID)
	})
	data := take(t, address)
	eachEmpty(t, func(t *testing.T, target string) {
		if _, err := Restore(t.Context(), target, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		s := openAt(t, target)
		k := newKeeper(t, newRecord(t, s, startWriter(t, s)), "other")
		if got, err := s.Archived(t.Context(), ""); err != nil || len(want) != 1 || !reflect.DeepEqual(got, want) {
			t.Fatalf("archives %+v, %v; want %+v", got, err, want)
		}
		k.gone(t, want[0].Run, 3)
		if !strings.Contains(want[0].File, string(want[0].Run)) {
			t.Errorf("file %s", want[0].File)
		}
	})
}

// An edge whose disk was put back from a copy sends again, under other numbers, what has left long ago.
func TestWhatHasLeftIsRecognisedWhenItComesAgain(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		j := k.edge(t)
		run := k.ended(t, j, 5)
		restored := newJournal(j.edge)
		for i, row := range j.rows[1:] {
			restored.raw(renumbered(t, row, i+1))
		}
		restored.write(t, run.ID, wireDelta, json.RawMessage(`{"delta":"new"}`))
		k.forget(t)
		// At both moments at which it may come: as long as events are being removed, and afterwards.
		err := retention.NewArchiver(unremoved{k.logs}, nil, k.dir, month, slog.New(slog.DiscardHandler), telemetry.NewRegistry("hub")).Pass(t.Context(), agesLater())
		if removed, _, removeErr := k.logs.Remove(t.Context(), 2); err != nil || removeErr != nil || removed != 2 {
			t.Fatalf("%d events are removed, %v, %v", removed, err, removeErr)
		}
		restored.open(t, k.record)
		if res := restored.send(t, k.record, 1, 3); res.Events != 0 {
			t.Errorf("while it leaves: %+v", res)
		}
		k.pass(t, month, agesLater())
		if res := restored.flush(t, k.record); res.Events != 1 || len(res.Refused) != 0 {
			t.Errorf("after it has left: %+v", res)
		}
		if found := k.get(t, run.ID); found.LastEventSeq != 6 || found.Floor != 5 {
			t.Errorf("the log ends at %d, with floor %d", found.LastEventSeq, found.Floor)
		}
	})
}
