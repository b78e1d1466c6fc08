package omnilog

import (
	"testing"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestCursorsAndPositions(t *testing.T) {
	for text, want := range map[string]Position{"1f0c-41": {41, 1<<31 - 1}, "1f0c-0": {0, 1<<31 - 1}, "1f0c-41.0": {41, 0}, "1f0c-41.17": {41, 17}} {
		if epoch, got, err := ParsePosition(text); err != nil || epoch != "1f0c" || got != want {
			t.Errorf("%s is %s %+v, %v", text, epoch, got, err)
		}
	}
	for _, text := range []string{
		"", "-", "41", "1f0c-", "-41", "1f0c--1", "1f0c-041", "1f0c-41.", "1f0c-41.01", "1f0c-41.-1", "1f0c-41.1.1", "1f0c-9223372036854775807",
		"1f0c.41", "1f 0c-41", "1f0c-41 ", "1f0c-+41", "1f0c-41.9999999999",
	} {
		if _, _, err := ParsePosition(text); fault.CodeOf(err) != fault.CursorInvalid {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := ParseCursor(text); fault.CodeOf(err) != fault.CursorInvalid {
			t.Errorf("cursor %q: %v", text, err)
		}
	}
	if _, err := ParseCursor("1f0c-41.0"); fault.CodeOf(err) != fault.CursorInvalid {
		t.Errorf("a position is taken for a cursor: %v", err)
	}
}

func FuzzCursors(f *testing.F) {
	f.Add("1f0c5a9e33b2d704", int64(41), 3, "1f0c5a9e33b2d704-41.3")
	f.Fuzz(func(t *testing.T, epoch string, place int64, n int, text string) {
		if epochText(epoch) && len(epoch) < 64 && place >= 0 && place < 1<<62 && n >= 0 && n < 1<<31 {
			c := Cursor{wire.Epoch(epoch), place}
			if got, err := ParseCursor(c.String()); err != nil || got != c {
				t.Errorf("%+v is read as %+v, %v", c, got, err)
			}
			p := Position{place, n}
			if e, got, err := ParsePosition(p.Text(c.Epoch)); err != nil || got != p || e != c.Epoch {
				t.Errorf("%+v is read as %s %+v, %v", p, e, got, err)
			}
		}
		if c, err := ParseCursor(text); err == nil && c.String() != text {
			t.Errorf("%q is read as %s", text, c)
		}
	})
}
