package sqlstore

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/archive"
	"github.com/switchyard-dev/switchyard/hub-server/internal/peer"
	"github.com/switchyard-dev/switchyard/hub-server/internal/retention"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

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
		if left, err := other.Leave(t.Context(), found[0], s, 0); err != nil || left {
			t.Errorf("it left by a claim that was lost: %v, %v", left, err)
		}
		if left, err := k.logs.Leave(t.Context(), found[0], s, 0); err != nil || !left {
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
