package agentline_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// Marks around the tables in docs/events-runtime.md.
const (
	linesBegin = "<!-- lines: cd shared && go test ./agentline -run Documents -update -->\n"
	linesEnd   = "<!-- /lines -->"
	factsBegin = "<!-- facts: cd shared && go test ./agentline -run Documents -update -->\n"
	factsEnd   = "<!-- /facts -->"
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

func factsTable() string {
	var b strings.Builder
	b.WriteString("| `type` | what it says | `payload` |\n|---|---|---|\n")
	for _, f := range event.AgentFacts() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Type, f.Meaning, event.KeysOf(f.Payload))
	}
	return b.String()
}

func TestDocumentsHaveTheTablesOfLinesAndFacts(t *testing.T) {
	documents(t, linesBegin, linesEnd, linesTable())
	documents(t, factsBegin, factsEnd, factsTable())
}

// documents holds the part of docs/events-runtime.md between two marks to what it is generated from.
func documents(t *testing.T, begin, end, table string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "events-runtime.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := bytes.Cut(text, []byte(begin))
	old, after, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		t.Fatalf("docs/events-runtime.md lacks the marks %q and %q", begin, end)
	}
	if string(old) == table {
		return
	}
	if !*update {
		t.Fatal("docs/events-runtime.md is out of date: " + begin)
	}
	if err := os.WriteFile(path, bytes.Join([][]byte{before, []byte(begin + table + end), after}, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}
