package sqlstore

import (
	"context"
	"errors"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// raiseFormat does what a newer hub does before it writes what this one cannot read.
func raiseFormat(t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.writeDB.ExecContext(t.Context(), `UPDATE store_counter SET format = $1`, int64(newestFormat)+1); err != nil {
		t.Fatal(err)
	}
}

func TestAHubThatMeetsANewerFormatNeitherReadsNorWritesNorIsReady(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		user := id.NewUser()
		toUser := func(_ context.Context, tx *Tx) error {
			tx.Emit(delivery.Row{Audience: delivery.ToUser(user), Kind: delivery.KindFrame, FrameType: "typing", Payload: []byte(`{}`)})
			return nil
		}
		do(t, w, nil, toUser)
		if rows, err := s.Rows(t.Context(), 0, 10); err != nil || len(rows) != 1 || w.Probe(t.Context()) != nil {
			t.Fatalf("before: %d rows, %v", len(rows), err)
		}
		raiseFormat(t, s)
		for name, meet := range map[string]func() error{
			"tail":    func() error { _, err := s.Rows(t.Context(), 0, 10); return err },
			"resume":  func() error { _, err := s.RowsFor(t.Context(), user, 0, 1, 10); return err },
			"ready":   func() error { return w.Probe(t.Context()) },
			"write":   func() error { return w.Do(t.Context(), nil, toUser) },
			"restart": func() error { return s.loadEpoch(t.Context()) },
			"entry": func() error {
				return w.Do(t.Context(), nil, func(_ context.Context, tx *Tx) error {
					tx.Audit(audit.Entry{Act: audit.LoggedIn})
					return nil
				})
			},
		} {
			if err := meet(); !errors.Is(err, ErrFormatNewer) {
				t.Errorf("%s: %v, want ErrFormatNewer", name, err)
			}
		}
		var head, entries int64
		err := s.readDB.QueryRowContext(t.Context(), `SELECT outbox_pos, audit_seq FROM store_counter`).Scan(&head, &entries)
		if err != nil || head != 1 || entries != 0 {
			t.Errorf("outbox ends at %d, audit log at %d, %v", head, entries, err)
		}
	})
}

func TestAStoreInANewerFormatIsNotOpened(t *testing.T) {
	for name, address := range addresses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := address(t)
			s, err := Open(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			raiseFormat(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), at); !errors.Is(err, ErrFormatNewer) {
				t.Errorf("got %v, want ErrFormatNewer", err)
			}
		})
	}
}
