package cells_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"
)

func TestWideCharactersTakeTwoCells(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "你好": 4, "a你b": 4, "e\u0301": 1, "👍": 2} {
		if got := cells.Width(text); got != want {
			t.Errorf("%q takes %d cells, want %d", text, got, want)
		}
	}
}

func TestALineIsCutAndFilledToItsWidth(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"hello", 5, "hello"}, {"hello", 4, "hel…"}, {"hello", 7, "hello  "}, {"你好吗", 6, "你好吗"}, {"你好吗", 5, "你好…"}, {"你好吗", 4, "你… "}, {"你", 0, ""},
	} {
		if got := cells.Pad(c.text, c.width); got != c.want {
			t.Errorf("%q in %d cells is %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestTextIsWrappedWhereAReaderWouldBreakIt(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 10, ""},
		{"one two three", 8, "one two|three"},
		{"one  two", 4, "one|two"},
		{"a\n\nb", 8, "a||b"},
		{"  indented line here", 12, "  indented|line here"},
		{"internationalisation", 8, "internat|ionalisa|tion"},
		{"see internationalisation", 8, "see|internat|ionalisa|tion"},
		{"今天我们看看怎么换行", 8, "今天我们|看看怎么|换行"},
		{"今天我们，看看", 8, "今天我|们，看看"},
		{"用 git log 看", 7, "用 git|log 看"},
		{"\tx", 10, "    x"},
	} {
		if got := strings.Join(cells.Wrap(c.text, c.width), "|"); got != c.want {
			t.Errorf("%q in %d cells is %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestNoLineIsWiderThanAskedForAndNoWordIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab 你好，。👍é-")), 0, 60, -1).Draw(t, "text")
		width := rapid.IntRange(4, 30).Draw(t, "width")
		lines := cells.Wrap(text, width)
		for _, line := range lines {
			if cells.Width(line) > width {
				t.Fatalf("%q takes more than %d cells", line, width)
			}
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := squeeze(strings.Join(lines, "")); got != squeeze(text) {
			t.Fatalf("%q became %q", text, lines)
		}
		if slices.ContainsFunc(lines[1:], func(line string) bool { return strings.HasPrefix(line, " ") }) {
			t.Fatalf("%q: a space stands where a line was broken: %q", text, lines)
		}
	})
}
