package sqlstore

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// stopper notes which runs were asked to stop, by whom; the first time it fails.
type stopper struct {
	mu     sync.Mutex
	failed bool
	asked  []id.Run
	by     id.User
}

func (s *stopper) CancelFor(_ context.Context, run id.Run, by id.User, _ string) (runlog.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.failed {
		s.failed = true
		return runlog.Run{}, errors.New("the store is away")
	}
	s.asked, s.by = append(s.asked, run), by
	return runlog.Run{}, nil
}

func TestWhatRunsInADissolvedConversationIsCancelledOnce(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		w.edge(ada.ID, "scout")
		scout := w.agentOf(ada.ID, "scout")
		s, other := w.group(ada, memberOf(scout)), w.group(ada, memberOf(scout))
		start := func(s chat.Session) id.Run {
			p := w.posting(s.ID, ada.ID)
			p.Runs = []runlog.NewRun{newRunOf(s.ID, ada.ID, scout)}
			_, _, err := w.chat.Post(t.Context(), p)
			w.must(err)
			return p.Runs[0].ID
		}
		run := start(s)
		start(other)
		s.DissolvedAt = w.now
		d := chat.Dissolution{Session: s, By: ada.ID, Frame: []byte(`{"dissolved":true}`)}
		d.Session.Info = 1
		if err := w.chat.Dissolve(t.Context(), d); !errors.Is(err, chat.ErrMoved) {
			t.Fatalf("of another state: %v", err)
		}
		d.Session.Info = 0
		w.must(w.chat.Dissolve(t.Context(), d))
		if err := w.chat.Dissolve(t.Context(), d); !errors.Is(err, chat.ErrMoved) {
			t.Fatalf("twice: %v", err)
		}
		w.wants(fault.SessionDissolved, func() error { _, _, err := w.chat.Post(t.Context(), w.posting(s.ID, ada.ID)); return err }())
		if err := w.chat.Update(t.Context(), ada.ID, chat.Update{Now: s, Frame: []byte(`{}`)}); !errors.Is(err, chat.ErrMoved) {
			t.Errorf("update: %v", err)
		}
		if heard := w.heard(ada.ID); heard[len(heard)-1] != "session.dissolved" {
			t.Errorf("ada heard %v", heard)
		}

		runs := &stopper{}
		ending := &chat.Ending{Store: w.chat, Runs: runs, Timers: NewTimers(w.store, w.chat.writer), Log: slog.New(slog.DiscardHandler)}
		later := time.Now().Add(time.Second)
		if err := ending.Sweep(t.Context(), later); err == nil {
			t.Error("trouble is not told")
		}
		for range 2 { // again after trouble, and never after that
			w.must(ending.Sweep(t.Context(), later))
		}
		if !slices.Equal(runs.asked, []id.Run{run}) || runs.by != ada.ID {
			t.Errorf("asked %v by %s, want %s", runs.asked, runs.by, run)
		}
	})
}
