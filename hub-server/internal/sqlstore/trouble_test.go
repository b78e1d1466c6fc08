package sqlstore

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// The bound goes away with the connection, as a full disk does with what filled it.
func TestAFullDiskIsBusyKeepsNothingAndPasses(t *testing.T) {
	s := openAt(t, newFile(t))
	w := startWriter(t, s)
	large := delivery.Row{
		Audience: delivery.ToUser(id.NewUser()), Kind: delivery.KindFrame, FrameType: "large", Payload: []byte(`"` + strings.Repeat("x", 1<<20) + `"`),
	}
	err := w.Do(t.Context(), nil, func(ctx context.Context, tx *Tx) error {
		tx.Emit(large)
		var pages int
		return tx.QueryRow(ctx, `PRAGMA max_page_count = 1`).Scan(&pages) // not fewer than there are
	})
	if fault.CodeOf(err) != fault.Busy {
		t.Errorf("got %v", err)
	}
	if w.Probe(t.Context()) == nil {
		t.Error("ready at once")
	}
	past := w.trouble.Load().Add(-troubleLasts)
	w.trouble.Store(&past)
	if err := w.Probe(t.Context()); err != nil {
		t.Errorf("unready for longer: %v", err)
	}
	do(t, w, nil, emit("kept"))
	if got := frameTypes(t, s); len(got) != 1 || got[0] != "kept" {
		t.Errorf("outbox holds %v", got)
	}
}

func TestOnlyTroubleOfTheStoreItselfIsBusy(t *testing.T) {
	for code, want := range map[string]bool{
		"53100": true, "53300": true, "57P03": true, "58030": true, "23505": false, "42P01": false, "": false,
	} {
		if got := fault.CodeOf(busyIfTroubled(&pgconn.PgError{Code: code})) == fault.Busy; got != want {
			t.Errorf("%q: busy %t", code, got)
		}
	}
	if !errors.Is(busyIfTroubled(ErrWriterStopped), ErrWriterStopped) || busyIfTroubled(nil) != nil {
		t.Error("another error is not itself any more")
	}
	eachStore(t, func(t *testing.T, _ *Store, w *Writer) {
		err := w.Do(t.Context(), nil, func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO no_such_table VALUES (1)`)
			return err
		})
		if err == nil || fault.CodeOf(err) != fault.Internal {
			t.Errorf("a wrong statement: %v", err)
		}
	})
}
