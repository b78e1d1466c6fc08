package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestATableIsWrittenWholeOrRowByRow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	const page = "# Speed\n<!-- bench -->\n%<!-- /bench -->\nrest\n"
	if err := os.WriteFile(path, []byte(strings.Replace(page, "%", "old\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(of table, rowsOnly bool) string {
		t.Helper()
		if err := of.into(path, "bench", rowsOnly); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	all := table{machine: "here", rows: []row{{"first", "< 2", "1", true}, {"first of all", "< 2", "1", true}}}
	if got, want := write(all, false), strings.Replace(page, "%", all.String(), 1); got != want {
		t.Errorf("the page is\n%s\nwant\n%s", got, want)
	}
	some := table{machine: "elsewhere", rows: []row{{"first", "< 2", "3", false}, {"new", "", "4", true}}}
	want := strings.Replace(all.String(), "| first | < 2 | 1 | met |", "| first | < 2 | 3 | **missed** |", 1) + "| new |  | 4 |  |\n"
	if got := write(some, true); got != strings.Replace(page, "%", want, 1) {
		t.Errorf("the page is\n%s", got)
	}
}
