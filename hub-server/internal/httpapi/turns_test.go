package httpapi

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// However many ask, each person's work is done one after another, nobody waits for somebody else, and who goes away waits no more.
func TestEachPersonHasOneTurnAtATime(t *testing.T) {
	all := newTurns()
	others, err := all.take(t.Context(), "u_bob")
	if err != nil {
		t.Fatal(err)
	}
	var at atomic.Int32
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			done, err := all.take(t.Context(), "u_ada")
			if err != nil {
				t.Error(err)
				return
			}
			if n := at.Add(1); n != 1 {
				t.Errorf("%d work at once", n)
			}
			at.Add(-1)
			done()
		})
	}
	wait.Wait()
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := all.take(gone, "u_bob"); !errors.Is(err, context.Canceled) {
		t.Errorf("who went away has %v", err)
	}
	others()
	if len(all.of) != 0 {
		t.Errorf("%d are remembered", len(all.of))
	}
}
