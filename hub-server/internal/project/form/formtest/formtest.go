// Package formtest holds the rules of a projection to the catalogue of events, and its page to the rules.
package formtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/form"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// Complete asks for one decision, with its reason, on each event of the catalogue, and for none on others.
func Complete(t testing.TB, rules []form.Text) {
	t.Helper()
	decided := map[event.Type]bool{}
	for _, r := range rules {
		if decided[r.Event] {
			t.Errorf("%s has two decisions", r.Event)
		}
		if r.Why == "" {
			t.Errorf("%s: no word about why", r.Event)
		}
		if _, known := event.ByStored(r.Event); !known {
			t.Errorf("%s is not in the catalogue", r.Event)
		}
		decided[r.Event] = true
	}
	for _, row := range event.Rows() {
		if !decided[row.Stored] {
			t.Errorf("%s has no decided form, and no decided none: say in Rules what it becomes", row.Stored)
		}
	}
}

// Page holds the table in docs/protocols/NAME.md to the rules of project/NAME, or writes it again. The test that calls it has Page in its name, as
// the mark in front of the table says.
func Page(t testing.TB, name string, rules []form.Text, update bool) {
	t.Helper()
	begin := "<!-- forms: cd hub-server && go test ./internal/project/" + name + " -run Page -update -->\n"
	const end = "<!-- /forms -->"
	path := filepath.Join("..", "..", "..", "..", "docs", "protocols", name+".md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := bytes.Cut(page, []byte(begin))
	old, after, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		t.Fatalf("%s lacks the marks %q and %q", path, begin, end)
	}
	wanted := table(rules)
	if string(old) == wanted {
		return
	}
	if !update {
		t.Fatal("the table of forms in " + path + " is out of date: " + begin)
	}
	if err := os.WriteFile(path, bytes.Join([][]byte{before, []byte(begin + wanted + end), after}, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

func table(rules []form.Text) string {
	var b strings.Builder
	b.WriteString("| event | becomes | |\n|---|---|---|\n")
	for _, r := range rules {
		becomes := "nothing"
		if r.Form != "" {
			becomes = "`" + strings.ReplaceAll(r.Form, "|", `\|`) + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.Event, becomes, r.Why)
	}
	return b.String()
}
