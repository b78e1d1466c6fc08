package omni_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	omnifold "github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestEveryEventOfTheCatalogueHasADecision(t *testing.T) {
	decided := map[event.Type]bool{}
	for _, r := range omnifold.Rules() {
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
			t.Errorf("%s has no decided form, and no decided none: say in Rules what it is", row.Stored)
		}
	}
}

// Marks around the table of forms in docs/protocols/omni.md.
const (
	formsBegin = "<!-- forms: cd hub-server && go test ./internal/project/omni -run Page -update -->\n"
	formsEnd   = "<!-- /forms -->"
)

func formsTable() string {
	var b strings.Builder
	b.WriteString("| event | is | |\n|---|---|---|\n")
	for _, r := range omnifold.Rules() {
		form := "nothing"
		if r.Form != "" {
			form = "`" + strings.ReplaceAll(r.Form, "|", `\|`) + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.Event, form, r.Why)
	}
	return b.String()
}

func TestThePageHasTheTableOfForms(t *testing.T) {
	path := filepath.Join("..", "..", "..", "..", "docs", "protocols", "omni.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := bytes.Cut(page, []byte(formsBegin))
	old, after, ended := bytes.Cut(rest, []byte(formsEnd))
	if !found || !ended {
		t.Fatalf("docs/protocols/omni.md lacks the marks %q and %q", formsBegin, formsEnd)
	}
	if string(old) == formsTable() {
		return
	}
	if !*update {
		t.Fatal("the table of forms in docs/protocols/omni.md is out of date: " + formsBegin)
	}
	if err := os.WriteFile(path, bytes.Join([][]byte{before, []byte(formsBegin + formsTable() + formsEnd), after}, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}
