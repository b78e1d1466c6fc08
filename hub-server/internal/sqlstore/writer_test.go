package sqlstore

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func emit(frameType string) func(context.Context, *Tx) error {
	return func(_ context.Context, tx *Tx) error {
		tx.Emit(delivery.Row{Audience: delivery.ToUser(id.NewUser()), Kind: delivery.KindFrame, FrameType: frameType, Payload: []byte(`{}`)})
		return nil
	}
}

func TestAFailingRequestKeepsNothingAndSparesTheOthers(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		boom := errors.New("boom")
		err := w.Do(t.Context(), nil, func(ctx context.Context, tx *Tx) error {
			if err := emit("lost")(ctx, tx); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `INSERT INTO no_such_table VALUES (1)`); err == nil {
				t.Error("a statement on a missing table succeeded")
			}
			return boom
		})
		if !errors.Is(err, boom) {
			t.Errorf("got %v, want the request's own error", err)
		}
		do(t, w, nil, emit("kept"))
		if got := frameTypes(t, s); len(got) != 1 || got[0] != "kept" {
			t.Errorf("outbox holds %v, want only the second request's row", got)
		}
	})
}

func TestARequestThatSpoilsItsGroupFailsAlone(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		begun, release := make(chan struct{}), make(chan struct{})
		var others sync.WaitGroup
		others.Go(func() {
			err := w.Do(t.Context(), nil, func(context.Context, *Tx) error {
				close(begun)
				<-release
				return nil
			})
			if err != nil {
				t.Errorf("the first group: %v", err)
			}
		})
		<-begun
		spoiler := make(chan error, 1)
		others.Go(func() {
			spoiler <- w.Do(t.Context(), nil, func(ctx context.Context, tx *Tx) error {
				_, err := tx.Exec(ctx, "RELEASE SAVEPOINT request")
				return err
			})
		})
		for range 5 {
			others.Go(func() {
				if err := w.Do(t.Context(), nil, emit("kept")); err != nil {
					t.Errorf("an innocent request: %v", err)
				}
			})
		}
		for len(w.requests) < 6 {
			runtime.Gosched()
		}
		close(release)
		others.Wait()
		if err := <-spoiler; err == nil {
			t.Error("the spoiler succeeded")
		}
		if got := frameTypes(t, s); len(got) != 5 {
			t.Errorf("outbox holds %d rows, want those of the five others", len(got))
		}
	})
}

func frameTypes(t *testing.T, s *Store) []string {
	t.Helper()
	rows, err := s.readDB.QueryContext(t.Context(), `SELECT frame_type FROM outbox ORDER BY pos`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var types []string
	for rows.Next() {
		var frameType string
		if err := rows.Scan(&frameType); err != nil {
			t.Fatal(err)
		}
		types = append(types, frameType)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return types
}
