package delivery

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func newTestMarks(store MarkStore) *Marks {
	return NewMarks(slog.New(slog.DiscardHandler), store, func() wire.Epoch { return testEpoch })
}

func TestMarksAreWrittenInBatchesAndReadBackBeforeThat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemoryMarks()
		m := newTestMarks(store)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- m.Run(ctx) }()
		user, a, b := id.NewUser(), id.NewDevice(), id.NewDevice()
		for p := range Position(100) {
			m.Move(user, a, p)
			m.Move(user, b, p)
		}
		m.Move(user, a, 50) // late
		if mark, ok, err := m.Last(ctx, user, a); err != nil || !ok || mark != (Mark{testEpoch, 99}) {
			t.Errorf("before the write: %+v, %v, %v", mark, ok, err)
		}
		time.Sleep(2 * markGather)
		synctest.Wait()
		if store.saves != 1 || store.mark(b) != 99 {
			t.Errorf("after the gather time: %d writes, b at %d", store.saves, store.mark(b))
		}
		if _, ok, _ := m.Last(ctx, id.NewUser(), a); ok {
			t.Error("another user got the mark of a device that is not theirs")
		}
		m.Move(user, b, 120)
		stop()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
		if store.mark(b) != 120 {
			t.Errorf("what was moved last is not written at the end: %d", store.mark(b))
		}
	})
}

func TestMarksSurviveAStoreThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemoryMarks()
		store.fail = errors.New("away")
		m := newTestMarks(store)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- m.Run(ctx) }()
		user, device := id.NewUser(), id.NewDevice()
		m.Move(user, device, 7)
		time.Sleep(5 * markGather)
		store.mu.Lock()
		store.fail = nil
		store.mu.Unlock()
		time.Sleep(2 * markGather)
		if store.mark(device) != 7 {
			t.Errorf("mark is %d after the store came back, want 7", store.mark(device))
		}
		stop()
		<-done
	})
}

// Thousands of devices acknowledge at once: nobody's message waits for all of their marks.
func TestManyMarksAreWrittenInParts(t *testing.T) {
	store := newMemoryMarks()
	marks := NewMarks(slog.New(slog.DiscardHandler), store, func() wire.Epoch { return testEpoch })
	const devices = 2*markRows + 1
	for range devices {
		marks.Move(id.NewUser(), id.NewDevice(), 1)
	}
	if err := marks.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(store.saved) != devices || store.saves != 3 || len(marks.moved) != 0 {
		t.Errorf("%d of %d marks in %d writes, %d left", len(store.saved), devices, store.saves, len(marks.moved))
	}
}
