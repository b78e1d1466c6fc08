package delivery

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Cursors live on clients' disks: their bytes may not change within version 1.
func TestCursorTextIsStable(t *testing.T) {
	const want Cursor = "ARAwMTIzNDU2Nzg5YWJjZGVmrAI"
	if got := NewCursor(testEpoch, 300); got != want {
		t.Errorf("cursor of 300 is %q, want %q", got, want)
	}
}

func TestParseCursorRefusesWhatNewCursorDoesNotMake(t *testing.T) {
	good := string(NewCursor(testEpoch, 300))
	for name, text := range map[string]string{
		"empty": "", "not base64": "***", "padded": good + "=", "cut": good[:len(good)-1], "longer": good + "AA",
		"other version": "Ag" + good[2:], "endless": strings.Repeat("A", 4096), "long varint": "AQCAAA",
		"beyond any store": string(NewCursor(testEpoch, math.MaxUint64)),
	} {
		if _, _, err := ParseCursor(text); !errors.Is(err, ErrCursor) {
			t.Errorf("%s: got error %v, want ErrCursor", name, err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(string(NewCursor(testEpoch, 0)), "e", uint64(0))
	f.Add(string(NewCursor("", 1)), "0123456789abcdef", uint64(math.MaxInt64))
	f.Add("AQCAAA", "", uint64(300))
	f.Fuzz(func(t *testing.T, text, epoch string, p uint64) {
		if e, pos, err := ParseCursor(text); err == nil && string(NewCursor(e, pos)) != text {
			t.Errorf("%q parses but is not what NewCursor makes", text)
		}
		if len(epoch) > maxEpochInside || p > math.MaxInt64 {
			return
		}
		e, pos, err := ParseCursor(string(NewCursor(wire.Epoch(epoch), Position(p))))
		if err != nil || e != wire.Epoch(epoch) || uint64(pos) != p {
			t.Errorf("(%q, %d) came back as (%q, %d), error %v", epoch, p, e, pos, err)
		}
	})
}
