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

// misentered lets 20 acts happen at once, of which every other one is refused, and says which entries are wrong.
func misentered(t *testing.T, s *Store, act func(i int, refused error) error) (wrong []string) {
	t.Helper()
	refused := errors.New("refused")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			var why error
			if i%2 == 1 {
				why = refused
			}
			if err := act(i, why); !errors.Is(err, why) {
				t.Errorf("act %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	entries, err := NewAudit(s, nil).Entries(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	entered := map[string]int{}
	for i, e := range entries {
		if entered[e.Target]++; e.Seq != audit.Seq(i+1) {
			wrong = append(wrong, fmt.Sprintf("entry %d is %+v", i+1, e))
		}
	}
	for i := range 20 {
		if want := 1 - i%2; entered[fmt.Sprint(i)] != want {
			wrong = append(wrong, fmt.Sprintf("act %d has %d entries, want %d", i, entered[fmt.Sprint(i)], want))
		}
	}
	return wrong
}

func TestSEC25AnEntryIsThereExactlyIfItsActIs(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		for _, wrong := range misentered(t, s, func(i int, refused error) error {
			return w.Do(t.Context(), nil, func(_ context.Context, tx *Tx) error {
				tx.Audit(audit.Entry{Act: audit.LoggedIn, Target: fmt.Sprint(i)})
				return refused
			})
		}) {
			t.Error(wrong)
		}
	})
}

// The positive control: acts that are entered before they happen, in a transaction of the entry's own, are seen.
func TestSEC25ActsThatAreEnteredAheadAreSeen(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		wrong := misentered(t, s, func(i int, refused error) error {
			err := w.Do(t.Context(), nil, func(_ context.Context, tx *Tx) error {
				tx.Audit(audit.Entry{Act: audit.LoggedIn, Target: fmt.Sprint(i)})
				return nil
			})
			if err != nil {
				return err
			}
			return w.Do(t.Context(), nil, func(context.Context, *Tx) error { return refused })
		})
		if len(wrong) != 10 {
			t.Errorf("seen is %q, want ten acts that never were", wrong)
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
