package sqlstore

import (
	"context"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// A hub that is stopped inside a transaction, as by SIGSTOP or a frozen virtual machine, holds its locks; its sockets stay open.
func TestAHubThatStallsInATransactionHoldsUpNobodyForLong(t *testing.T) {
	t.Parallel()
	s := openAt(t, migratedPostgres(t))
	stalled, other := startWriter(t, s), startWriter(t, s)
	locks := []Lock{LockRun(string(id.NewRun()))}
	begun, wake := make(chan struct{}), make(chan struct{})
	var hub sync.WaitGroup
	hub.Go(func() {
		err := stalled.Do(t.Context(), locks, func(ctx context.Context, tx *Tx) error {
			close(begun)
			<-wake
			return emit("stalled")(ctx, tx)
		})
		if err == nil {
			t.Error("the stalled transaction was committed after others had gone on")
		}
	})
	<-begun
	if err := other.Do(t.Context(), locks, emit("other")); err != nil {
		t.Errorf("the other hub: %v", err)
	}
	close(wake)
	hub.Wait()
	do(t, stalled, locks, emit("awake"))
	if got := frameTypes(t, s); len(got) != 2 || got[0] != "other" || got[1] != "awake" {
		t.Errorf("outbox holds %v", got)
	}
	var head delivery.Position
	if err := s.readDB.QueryRowContext(t.Context(), `SELECT max(pos) FROM outbox`).Scan(&head); err != nil || head != 2 {
		t.Errorf("head is %d, %v", head, err)
	}
}
