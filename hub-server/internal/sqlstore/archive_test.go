package sqlstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/canonical"
	"github.com/switchyard-dev/switchyard/hub-server/internal/retention"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

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
