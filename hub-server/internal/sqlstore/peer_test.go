package sqlstore

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/peer"
)

// older is the list as a hub keeps it that reads only the first format.
func older(s *Store, w *Writer) *Peers { return &Peers{store: s, writer: w, reads: formatFirst} }

// secondHandle opens the store once more as another hub has it. A SQLite file has one process: there its hubs share the handle.
func secondHandle(t *testing.T, s *Store, address string) *Store {
	t.Helper()
	if s.path != "" {
		return s
	}
	return openAt(t, address)
}

// eachPair runs a contract over two hubs of one store.
func eachPair(t *testing.T, contract func(t *testing.T, s [2]*Store, w [2]*Writer)) {
	t.Helper()
	for name, address := range addresses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := address(t)
			first := openAt(t, at)
			second := secondHandle(t, first, at)
			contract(t, [2]*Store{first, second}, [2]*Writer{startWriter(t, first), startWriter(t, second)})
		})
	}
}

// The file is locked by whoever uses it: nobody waits for a process that was killed.
func TestAHubThatOpensASQLiteFileIsTheOnlyOneOnTheList(t *testing.T) {
	t.Parallel()
	at := newFile(t)
	s := openAt(t, at)
	if err := NewPeers(s, startWriter(t, s)).Announce(t.Context(), "killed", time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, at)
	if left, err := NewPeers(s, nil).Peers(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("on the list: %v, %v", left, err)
	}
}

func TestAFormatIsSwitchedOnOnceNoHubLivesThatCannotReadIt(t *testing.T) {
	eachPair(t, func(t *testing.T, s [2]*Store, w [2]*Writer) {
		ctx := t.Context()
		raise := func(want bool) {
			t.Helper()
			if on, err := w[0].RaiseFormat(ctx, FormatArchives); err != nil || on != want {
				t.Fatalf("the format is on: %v, %v; want %v", on, err, want)
			}
		}
		old := older(s[1], w[1])
		if err := errors.Join(NewPeers(s[0], w[0]).Announce(ctx, "new", time.Now()), old.Announce(ctx, "old", time.Now())); err != nil {
			t.Fatal(err)
		}
		raise(false)
		listed, err := NewPeers(s[0], w[0]).Peers(ctx)
		want := []peer.Peer{{ID: "new", Beat: 1, Reads: int64(newestFormat)}, {ID: "old", Beat: 1, Reads: 1}}
		if err != nil || !slices.Equal(listed, want) {
			t.Fatalf("listed %+v, %v", listed, err)
		}
		if err := old.Announce(ctx, "old", time.Now()); err != nil { // it lives
			t.Fatal(err)
		}
		if forgotten, err := NewPeers(s[0], w[0]).Forget(ctx, want[1]); err != nil || forgotten {
			t.Fatalf("a hub that has moved was forgotten: %v, %v", forgotten, err)
		}
		raise(false)
		if forgotten, err := NewPeers(s[0], w[0]).Forget(ctx, peer.Peer{ID: "old", Beat: 2}); err != nil || !forgotten {
			t.Fatalf("a silent hub was not forgotten: %v, %v", forgotten, err)
		}
		raise(true)
		raise(true)
		if err := NewPeers(s[1], w[1]).Leave(ctx, "new"); err != nil {
			t.Fatal(err)
		}
		if listed, err := NewPeers(s[0], w[0]).Peers(ctx); err != nil || len(listed) != 0 {
			t.Errorf("listed %+v, %v", listed, err)
		}
	})
}

func TestAFormatThatNobodyKnowsIsNotSwitchedOn(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		if on, err := w.RaiseFormat(t.Context(), newestFormat+1); on || !errors.Is(err, ErrFormatNewer) {
			t.Errorf("the format is on: %v, %v", on, err)
		}
		raiseFormat(t, s)
		if err := NewPeers(s, w).Announce(t.Context(), "old", time.Now()); !errors.Is(err, ErrFormatNewer) {
			t.Errorf("announced to a newer store: %v", err)
		}
	})
}

// A registry over a real store: what it crosses off is what holds a format back.
func TestAHubThatLeavesNoLongerHoldsAFormatBack(t *testing.T) {
	eachPair(t, func(t *testing.T, s [2]*Store, w [2]*Writer) {
		r := peer.NewRegistry(older(s[1], w[1]), "old", slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		<-r.Ready()
		if on, err := w[0].RaiseFormat(t.Context(), FormatArchives); on || err != nil {
			t.Errorf("while it lives the format is on: %v, %v", on, err)
		}
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if on, err := w[0].RaiseFormat(t.Context(), FormatArchives); !on || err != nil {
			t.Errorf("after it has left the format is on: %v, %v", on, err)
		}
	})
}
