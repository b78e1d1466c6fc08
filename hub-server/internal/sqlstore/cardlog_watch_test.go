package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// meddled is a store of traces to which something happens just before an append.
type meddled struct {
	cardlog.Store
	before func(context.Context) error // once; nil: nothing
}

func (m *meddled) Append(ctx context.Context, from, to cardlog.Checkpoint, frames []cards.Frame, changes int64, due time.Time) error {
	if before := m.before; before != nil {
		m.before = nil
		if err := before(ctx); err != nil {
			return err
		}
	}
	return m.Store.Append(ctx, from, to, frames, changes, due)
}

// Whoever looks while another watcher tells finds nothing, and is called: when it is told, by whomever, and when nobody does so any more.
func TestWhoLooksWhileItIsBeingToldIsCalled(t *testing.T) {
	for fate, gone := range map[string]bool{"it is told": false, "another hub tells it": false, "who tells it goes": true} {
		t.Run(fate, func(t *testing.T) {
			eachRecord(t, func(t *testing.T, r *record) {
				store, k, other := &meddled{Store: NewCards(r.store, r.writer)}, newTalk(t, r), r.teller(echoes(1))
				hub := cardlog.New(cardlog.Config{
					Store: store, Rules: echoes(1), Log: slog.New(slog.DiscardHandler), Metrics: cardlog.NewMetrics(telemetry.NewRegistry("hub")),
				})
				first, second := hub.Watch(k.session), hub.Watch(k.session)
				defer first.Close()
				defer second.Close()
				trace := opened(t, hub, k.session)
				k.goOn(t, 5, chanceOf(t).part(0))
				k.seen(t, hub)
				soon(t, first.Ready())
				soon(t, second.Ready())
				leaves, leave := context.WithCancel(t.Context())
				defer leave()
				store.before = func(ctx context.Context) error {
					if frames, err := hub.Read(t.Context(), trace.ID, trace.Head, 1); err != nil || len(frames) > 0 {
						t.Errorf("meanwhile the second reads %v, %v", frames, err)
					}
					if fate == "another hub tells it" {
						opened(t, other, k.session)
					}
					if gone {
						leave()
					}
					return context.Cause(ctx)
				}
				if frames, err := hub.Read(leaves, trace.ID, trace.Head, 1); gone != errors.Is(err, context.Canceled) || gone != (len(frames) == 0) {
					t.Errorf("the first reads %d frames, %v", len(frames), err)
				}
				soon(t, second.Ready())
				if frames, err := hub.Read(t.Context(), trace.ID, trace.Head, 1); err != nil || len(frames) == 0 {
					t.Errorf("the second reads %d frames, %v", len(frames), err)
				}
			})
		})
	}
}

// seen gives a hub the hints for all that there is.
func (k *talk) seen(tb testing.TB, hub *cardlog.Logs) {
	tb.Helper()
	rows, err := k.store.Rows(tb.Context(), 0, 1<<20)
	if err != nil {
		tb.Fatal(err)
	}
	hub.Seen(rows)
}

// Watchers of two hubs come and go in the middle of everything: those who stay get all there is, and wait for no further hint.
func TestNobodyWaitsForWhatIsThere(t *testing.T) {
	chance := chanceOf(t)
	eachRecord(t, func(t *testing.T, r *record) {
		k, hubs := newTalk(t, r), []*cardlog.Logs{r.teller(echoes(1)), r.teller(echoes(1))}
		for round := range 25 {
			random, before := chance.part(round), opened(t, hubs[0], k.session)
			watchers := make([]*cardlog.Watcher, 8)
			for i := range watchers {
				watchers[i] = hubs[i%2].Watch(k.session)
				opened(t, hubs[i%2], k.session)
			}
			k.goOn(t, 3, random)
			until := echoed(k.head(t))
			k.seen(t, hubs[0])
			k.seen(t, hubs[1])
			errs := together(len(watchers), func(i int) error {
				defer watchers[i].Close()
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if i < 4 {
					time.AfterFunc(time.Duration(chance.part(100*round+i).Int64N(int64(3*time.Millisecond))), cancel)
				}
				err := readTo(ctx, hubs[i%2], watchers[i], before, until)
				if i < 4 && errors.Is(err, context.Canceled) {
					return nil
				}
				return err
			})
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// readTo reads a trace frame by frame up to a number, when it is called.
func readTo(ctx context.Context, hub *cardlog.Logs, w *cardlog.Watcher, from cardlog.Trace, until card.Seq) error {
	for at := from.Head; at < until; {
		frames, err := hub.Read(ctx, from.ID, at, 1)
		switch {
		case err != nil:
			return err
		case len(frames) > 0:
			at = frames[len(frames)-1].Seq
			continue
		}
		select {
		case <-w.Ready():
		case <-ctx.Done():
			return fmt.Errorf("wait behind frame %d of %d: %w", at, until, ctx.Err())
		}
	}
	return nil
}

// echoed is how many frames echoes make of so many places without questions.
func echoed(places int64) (n card.Seq) {
	for place := range places + 1 {
		n += card.Seq([]int64{0, 1 + place%2}[min(1, place%3)])
	}
	return n
}
