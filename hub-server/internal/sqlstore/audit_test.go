package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
)

func testSealer(t *testing.T, s *Store, w *Writer) *audit.Sealer {
	t.Helper()
	signer, err := audit.NewSigner(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return &audit.Sealer{Store: NewAudit(s, w), Signer: signer, Log: slog.New(slog.DiscardHandler)}
}

func enter(tb testing.TB, w *Writer, target string) {
	tb.Helper()
	do(tb, w, nil, func(_ context.Context, tx *Tx) error {
		tx.Audit(audit.Entry{Act: audit.LoggedIn, User: "user_a", Target: target})
		return nil
	})
}

// entered lists the acts of the log.
func entered(t *testing.T, s *Store) (acts []audit.Act) {
	t.Helper()
	entries, err := NewAudit(s, nil).Entries(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		acts = append(acts, e.Act)
	}
	return acts
}

func TestSEC25AnEntryIsThereExactlyIfItsActIs(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		refused := errors.New("refused")
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				err := w.Do(t.Context(), nil, func(_ context.Context, tx *Tx) error {
					tx.Audit(audit.Entry{Act: audit.LoggedIn, Target: fmt.Sprint(i)})
					if i%2 == 1 {
						return refused
					}
					return nil
				})
				if (i%2 == 1) != errors.Is(err, refused) {
					t.Errorf("act %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		entries, err := NewAudit(s, w).Entries(t.Context(), 0, 100)
		if err != nil || len(entries) != 10 {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		for i, e := range entries {
			if e.Seq != audit.Seq(i+1) || e.Target == "" || (e.Target[len(e.Target)-1]-'0')%2 == 1 {
				t.Errorf("entry %d is %+v", i+1, e)
			}
		}
	})
}

func TestSEC25AnEditedOrDeletedEntryIsFound(t *testing.T) {
	for name, statement := range map[string]string{
		"edited":          `UPDATE audit_entries SET user_id = 'user_b' WHERE seq = 2`,
		"deleted":         `DELETE FROM audit_entries WHERE seq = 2`,
		"deleted at end":  `DELETE FROM audit_entries WHERE seq = 5`,
		"seal deleted":    `DELETE FROM audit_seals WHERE first_seq = 1`,
		"seal stretched":  `UPDATE audit_seals SET last_seq = 5 WHERE first_seq = 4`,
		"seals exchanged": `UPDATE audit_seals SET signature = (SELECT signature FROM audit_seals WHERE first_seq = 1)`,
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store, w *Writer) {
				sealer := testSealer(t, s, w)
				for i := range 5 {
					enter(t, w, fmt.Sprint(i))
					if i == 2 || i == 3 {
						if err := sealer.Seal(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
				}
				v, err := audit.Verify(t.Context(), sealer.Store, sealer.Signer)
				if err != nil || v.Sealed != 4 || v.Unsealed != 1 {
					t.Fatalf("untouched: %+v, %v", v, err)
				}
				if _, err := s.writeDB.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
				if _, err := audit.Verify(t.Context(), sealer.Store, sealer.Signer); !errors.Is(err, audit.ErrBroken) {
					t.Errorf("got %v, want ErrBroken", err)
				}
			})
		})
	}
}

func TestHubsThatSealAtOnceMakeOneChain(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		sealers := []*audit.Sealer{testSealer(t, s, w), testSealer(t, s, w), testSealer(t, s, startWriter(t, s))}
		var wg sync.WaitGroup
		for i, sealer := range sealers {
			wg.Go(func() {
				for n := range 10 {
					enter(t, w, fmt.Sprint(i, n))
					if err := sealer.Seal(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if v, err := audit.Verify(t.Context(), sealers[0].Store, sealers[0].Signer); err != nil || v.Sealed != 30 {
			t.Errorf("verdict %+v, %v", v, err)
		}
	})
}

func TestAKeyInUseIsEnteredOnceForAllHubs(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		hubs := []*Audit{NewAudit(s, w), NewAudit(s, startWriter(t, s))}
		var wg sync.WaitGroup
		for _, hub := range append(hubs, hubs...) {
			wg.Go(func() {
				if err := hub.KeyInUse(t.Context(), "key-1"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := entered(t, s); !slices.Equal(got, []audit.Act{audit.KeysInUse}) {
			t.Errorf("entered %v", got)
		}
	})
}
