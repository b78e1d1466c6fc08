package runtime

import (
	"strings"
	"testing"
)

func TestFilenamesAreNoPathsAndShowAsWhatTheyAre(t *testing.T) {
	long := strings.Repeat("é", 200)
	cases := map[string]string{
		"report.md": "report.md", "a b.txt": "a b.txt", "../../x": "x", `..\..\x`: "x", "/": "file", "": "file", "..": "file",
		"a\r\nb\x00": "ab", "gpj\u202eexe.": "gpjexe.", long + ".md": strings.Repeat("é", 126) + ".md", "." + long: "." + strings.Repeat("é", 127),
	}
	for in, want := range cases {
		if got := filename(in); got != want || len(got) > maxFilename {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestContentTypeIsTheAgentsOrThatOfTheEnding(t *testing.T) {
	cases := []struct{ declared, name, want string }{
		{"text/markdown", "x", "text/markdown"}, {"", "a.json", "application/json"}, {"nonsense", "a.pdf", "application/pdf"},
		{"text/html; charset", "a", anyContent}, {"text/" + strings.Repeat("x", 300), "a", anyContent}, {"a\nb", "", anyContent},
	}
	for _, c := range cases {
		if got := contentTypeOf(c.declared, c.name); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.declared, c.name, got, c.want)
		}
	}
}
