package wire_test

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestChainIsTheHashOfThePreviousValueAndTheRow(t *testing.T) {
	var c wire.Chain
	first := sha256.Sum256(append(make([]byte, 32), "row one"...))
	if c = c.Next([]byte("row one")); c != wire.Chain(first) {
		t.Errorf("after one row: %x", c)
	}
	second := sha256.Sum256(append(first[:], "row two"...))
	if c = c.Next([]byte("row two")); c != wire.Chain(second) {
		t.Errorf("after two rows: %x", c)
	}
}

func TestChainTellsAnyOtherHistoryApart(t *testing.T) {
	after := func(rows ...string) (c wire.Chain) {
		for _, row := range rows {
			c = c.Next([]byte(row))
		}
		return c
	}
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.String(), 1, 10).Draw(t, "rows")
		i := rapid.IntRange(0, len(rows)-1).Draw(t, "place")
		changed := append([]string{}, rows...)
		changed[i] += "x"
		if after(rows...) == after(changed...) || after(rows...) == after(rows[:len(rows)-1]...) {
			t.Fatal("same chain")
		}
	})
}

func TestChainTextIsHex(t *testing.T) {
	c := wire.Chain{}.Next([]byte("row"))
	text, err := json.Marshal(c)
	if err != nil || len(text) != 66 {
		t.Fatalf("%s, %v", text, err)
	}
	var back wire.Chain
	if err := json.Unmarshal(text, &back); err != nil || back != c {
		t.Errorf("%x, %v", back, err)
	}
	for _, bad := range []string{"", "ab", strings.Repeat("0", 63), strings.Repeat("0", 66), strings.Repeat("x", 64)} {
		if err := back.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("read %q", bad)
		}
	}
}
