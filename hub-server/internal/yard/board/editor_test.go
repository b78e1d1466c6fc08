package board

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"
)

func TestTextIsTyped(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string // | is where the cursor is
	}{
		{[]string{"left", "x"}, "ab你x|好"},
		{[]string{"left", "left", "backspace"}, "a|你好"},
		{[]string{"home", "delete"}, "|b你好"},
		{[]string{"ctrl+a", "right", "ctrl+k"}, "a|"},
		{[]string{"ctrl+u"}, "|"},
		{[]string{" ", "w", "o", "ctrl+w", "!"}, "ab你好 !|"},
		{[]string{"backspace", "backspace", "backspace", "backspace", "backspace", "delete"}, "|"},
		{[]string{"\n", "c", "home", "up", "end", "y"}, "ab你好y|\nc"},
		{[]string{"\n", "c", "up", "x"}, "ax|b你好\nc"},
	} {
		e := editing("ab你好")
		for _, k := range c.keys {
			switch {
			case k == "up":
				e.up()
			case !e.key(k):
				e.insert(k)
			}
		}
		if got := e.text[:e.at] + "|" + e.text[e.at:]; got != c.want {
			t.Errorf("%q gives %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestPastedTextIsCleanAndBounded(t *testing.T) {
	var e editor
	e.insert("a\r\nb\x1b[31m\u202e")
	if e.text != "a\nb\uFFFD[31m" {
		t.Errorf("text %q", e.text)
	}
	e.insert(strings.Repeat("x", maxTyped))
	if len(e.text) > maxTyped || strings.Contains(e.text, "x") {
		t.Errorf("%d bytes", len(e.text))
	}
}

func TestTheCursorIsOnTheScreenAndBetweenCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := editing("")
		width := rapid.IntRange(2, 20).Draw(t, "width")
		for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "你", "👍", "é", "\n", " ", "left", "right", "home", "end", "backspace", "delete", "up", "down", "ctrl+w"}), 0, 40).Draw(t, "keys") {
			switch {
			case k == "up":
				e.up()
			case k == "down":
				e.down()
			case !e.key(k):
				e.insert(k)
			}
			lines, x, y := e.lay(width)
			if y < 0 || y >= len(lines) || x < 0 || x >= width {
				t.Fatalf("the cursor of %q is at %d, %d of %q", e.text, x, y, lines)
			}
			if strings.Join(lines, "") != strings.ReplaceAll(e.text, "\n", "") {
				t.Fatalf("%q is laid out as %q", e.text, lines)
			}
			if len(cells.Clusters(e.text[:e.at]))+len(cells.Clusters(e.text[e.at:])) != len(cells.Clusters(e.text)) {
				t.Fatalf("the cursor splits a character of %q at %d", e.text, e.at)
			}
		}
	})
}
