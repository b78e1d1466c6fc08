package agentline_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/agentline"
)

// Marks around the table of lines in docs/events-runtime.md.
const (
	linesBegin = "<!-- lines: cd shared && go test ./agentline -run Documents -update -->\n"
	linesEnd   = "<!-- /lines -->"
)

func linesTable() string {
	var b strings.Builder
	b.WriteString("| `type` | what it says | field | holds | meaning |\n|---|---|---|---|---|\n")
	for _, s := range agentline.Shapes() {
		name, meaning := "`"+string(s.Type)+"`", s.Meaning
		for _, f := range s.Fields {
			kind := string(f.Kind)
			if f.Needed {
				kind += ", needed"
			}
			fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s |\n", name, meaning, f.Name, kind, f.Meaning)
			name, meaning = "", ""
		}
	}
	return b.String()
}

func TestDocumentsHaveTheTableOfLines(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "events-runtime.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := bytes.Cut(text, []byte(linesBegin))
	old, after, ended := bytes.Cut(rest, []byte(linesEnd))
	if !found || !ended {
		t.Fatalf("docs/events-runtime.md lacks the marks %q and %q", linesBegin, linesEnd)
	}
	if string(old) == linesTable() {
		return
	}
	if !*update {
		t.Fatal("the table of lines in docs/events-runtime.md is out of date: " + linesBegin)
	}
	if err := os.WriteFile(path, bytes.Join([][]byte{before, []byte(linesBegin + linesTable() + linesEnd), after}, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}
