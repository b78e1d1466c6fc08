package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// memory is a log that can be tampered with.
type memory struct {
	entries []Entry
	seals   []Seal
	head    Seq
}

func (m *memory) Entries(_ context.Context, after Seq, limit int) (found []Entry, _ error) {
	for _, e := range m.entries {
		if e.Seq > after && len(found) < limit {
			found = append(found, e)
		}
	}
	return found, nil
}

func (m *memory) Seals(_ context.Context, after Seq, limit int) (found []Seal, _ error) {
	for _, s := range m.seals {
		if s.Last > after && len(found) < limit {
			found = append(found, s)
		}
	}
	return found, nil
}

func (m *memory) LastSeal(context.Context) (Seal, error) {
	if len(m.seals) == 0 {
		return Seal{}, nil
	}
	return m.seals[len(m.seals)-1], nil
}

func (m *memory) AddSeal(_ context.Context, s Seal) error {
	m.seals = append(m.seals, s)
	return nil
}

func (m *memory) Head(context.Context) (Seq, error) { return m.head, nil }

func (m *memory) enter(n int) {
	for range n {
		m.head++
		m.entries = append(m.entries, Entry{
			Seq: m.head, At: time.UnixMicro(int64(m.head)).UTC(), Act: LoggedIn, User: "user_a", Target: fmt.Sprint("dev_", m.head),
		})
	}
}

func testSigner(tb rapid.TB, first byte) *Signer {
	tb.Helper()
	key := make([]byte, minKey)
	key[0] = first
	signer, err := NewSigner(key)
	if err != nil {
		tb.Fatal(err)
	}
	return signer
}

// sealedLog has several seals, and entries behind them.
func sealedLog(tb rapid.TB, signer *Signer) *memory {
	tb.Helper()
	m := &memory{}
	sealer := Sealer{Store: m, Signer: signer, Log: slog.New(slog.DiscardHandler)}
	for _, n := range []int{3, 1, sealBatch + 5} {
		m.enter(n)
		if err := sealer.Seal(context.Background()); err != nil {
			tb.Fatal(err)
		}
	}
	m.enter(4)
	return m
}

func TestALogThatNobodyTouchedIsProven(t *testing.T) {
	signer := testSigner(t, 1)
	m := sealedLog(t, signer)
	v, err := Verify(t.Context(), m, signer)
	want := m.seals[len(m.seals)-1]
	if err != nil || len(m.seals) != 4 || v.Sealed != sealBatch+9 || v.Unsealed != 4 || v.Chain != want.Chain {
		t.Errorf("%d seals, verdict %+v, %v", len(m.seals), v, err)
	}
	if v, err := Verify(t.Context(), &memory{}, signer); err != nil || v != (Verdict{}) {
		t.Errorf("empty log: %+v, %v", v, err)
	}
}

func TestSEC25WhateverIsChangedInASealedLogIsFound(t *testing.T) {
	signer := testSigner(t, 1)
	changes := map[string]func(t *rapid.T, m *memory, i int){
		"time":   func(_ *rapid.T, m *memory, i int) { m.entries[i].At = m.entries[i].At.Add(time.Microsecond) },
		"act":    func(_ *rapid.T, m *memory, i int) { m.entries[i].Act = DeviceAdded },
		"user":   func(_ *rapid.T, m *memory, i int) { m.entries[i].User += "b" },
		"target": func(_ *rapid.T, m *memory, i int) { m.entries[i].Target = "" },
		"detail": func(_ *rapid.T, m *memory, i int) { m.entries[i].Detail = "x" },
		"fields": func(_ *rapid.T, m *memory, i int) {
			m.entries[i].User, m.entries[i].Target = "", "user_a"+m.entries[i].Target
		},
		"deleted": func(_ *rapid.T, m *memory, i int) { m.entries = slices.Delete(m.entries, i, i+1) },
		"exchanged": func(_ *rapid.T, m *memory, i int) {
			j := (i + 1) % int(m.seals[len(m.seals)-1].Last)
			m.entries[i].Target, m.entries[j].Target = m.entries[j].Target, m.entries[i].Target
		},
		"seal removed": func(t *rapid.T, m *memory, _ int) {
			at := rapid.IntRange(0, len(m.seals)-2).Draw(t, "seal")
			m.seals = slices.Delete(m.seals, at, at+1)
		},
		"sealed anew with another key": func(t *rapid.T, m *memory, i int) {
			m.entries[i].User, m.seals = "user_b", nil
			sealer := Sealer{Store: m, Signer: testSigner(t, 2), Log: slog.New(slog.DiscardHandler)}
			if err := sealer.Seal(context.Background()); err != nil {
				t.Fatal(err)
			}
		},
		"chain": func(t *rapid.T, m *memory, _ int) {
			m.seals[rapid.IntRange(0, len(m.seals)-1).Draw(t, "seal")].Chain[0]++
		},
		"entries behind the seals": func(_ *rapid.T, m *memory, _ int) { m.entries = m.entries[:len(m.entries)-1] },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m := sealedLog(t, signer)
				change(t, m, rapid.IntRange(0, int(m.seals[len(m.seals)-1].Last)-1).Draw(t, "entry"))
				if _, err := Verify(context.Background(), m, signer); !errors.Is(err, ErrBroken) {
					t.Fatalf("got %v, want ErrBroken", err)
				}
			})
		})
	}
}

// Chains are stored: their bytes never change.
func TestTheChainIsAsItAlwaysWas(t *testing.T) {
	e := Entry{Seq: 7, At: time.UnixMicro(1_700_000_000_000_001).UTC(), Act: OperateGranted, User: "user_1", Target: "edge_1", Detail: "user_2"}
	if got := fmt.Sprintf("%x", Chain{}.Next(e)); got != golden {
		t.Errorf("chain is %s", got)
	}
	s := testSigner(t, 1).Sign(Seal{First: 1, Last: 7, Chain: Chain{}.Next(e)})
	if got := fmt.Sprintf("%x", s.Signature); got != goldenSignature {
		t.Errorf("signature is %s", got)
	}
}

const (
	golden          = "653ad9a8c955cce3628142363f59816f75f1e9ba2bcfdff3d22b713f88f47f5d"
	goldenSignature = "69a2b65865236e95e694b1b61619fb152ab503415b59cc1f3ce12161a1cf34ff"
)
