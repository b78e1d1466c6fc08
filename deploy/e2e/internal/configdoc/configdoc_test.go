package configdoc

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/repolint"
)

var update = flag.Bool("update", false, "write docs/config.md again")

func page(t *testing.T) (root, text string) {
	t.Helper()
	root, err := repolint.Root()
	if err != nil {
		t.Fatal(err)
	}
	programs := Programs()
	for i := range programs {
		var problems []Problem
		if programs[i].Settings, problems, err = Read(root, programs[i].Folders); err != nil {
			t.Fatal(err)
		}
		for _, problem := range problems {
			t.Error(problem)
		}
		if len(programs[i].Settings) == 0 {
			t.Errorf("%s: no setting found in %q", programs[i].Name, programs[i].Folders)
		}
	}
	return root, Page(programs)
}

func TestPageIsWhatTheSourceSays(t *testing.T) {
	root, want := page(t)
	file := filepath.Join(root, "docs", "config.md")
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/config.md is out of date: cd deploy/e2e && go test ./internal/configdoc -update")
	}
}

func TestNoProgramReadsASettingThatThePageLacks(t *testing.T) {
	root, text := page(t)
	files, err := repolint.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	literal := regexp.MustCompile(`"((?:HUB|EDGE|YARD)_[A-Z0-9_]*[A-Z0-9])"`)
	for _, f := range files {
		if f.IsTest() {
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.Path)))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range literal.FindAllStringSubmatch(string(source), -1) {
			if !strings.Contains(text, "`"+found[1]+"`") {
				t.Errorf("%s: %s is read but not documented: declare it with an env tag or as a constant, and a comment", f.Path, found[1])
			}
		}
	}
}

const declarations = `package x

type Config struct {
	// folder of the state,
	// made at first start
	Home string ` + "`env:\"HUB_HOME\"`" + `
	// Where it listens.
	Addr string ` + "`env:\"HUB_ADDR,required\" envDefault:\"127.0.0.1:1\"`" + `
	// Reads a|b.
	Store Secret ` + "`env:\"HUB_STORE\"`" + `
	Silent string ` + "`env:\"HUB_SILENT\"`" + `
	Other string ` + "`json:\"other\"`" + `
	// Said again.
	Again string ` + "`env:\"HUB_HOME\"`" + `
}

type flags struct {
	Device string ` + "`env:\"YARD_DEVICE\" default:\"a\" help:\"Name of this device.\"`" + `
}

// key of an endpoint
const key = "OPENAI_API_KEY"

const (
	// Model to use.
	model = "OPENAI_MODEL"
	base  = "OPENAI_BASE_URL"
)

const notASetting = "HUB_"
`

func TestDeclarationsAreRead(t *testing.T) {
	var r reader
	if err := r.file("x.go", []byte(declarations)); err != nil {
		t.Fatal(err)
	}
	want := []Setting{
		{Variable: "HUB_HOME", Meaning: "Folder of the state, made at first start."},
		{Variable: "HUB_ADDR", Default: "127.0.0.1:1", Meaning: "Where it listens."},
		{Variable: "HUB_STORE", Meaning: "Reads a|b.", Secret: true},
		{Variable: "HUB_SILENT"},
		{Variable: "YARD_DEVICE", Default: "a", Meaning: "Name of this device."},
		{Variable: "OPENAI_API_KEY", Meaning: "Key of an endpoint.", Secret: true},
		{Variable: "OPENAI_MODEL", Meaning: "Model to use."},
		{Variable: "OPENAI_BASE_URL"},
	}
	if !slices.Equal(r.settings, want) {
		t.Errorf("got  %+v\nwant %+v", r.settings, want)
	}
	if len(r.problems) != 2 || r.problems[0].String() != "x.go:11: HUB_SILENT: a comment has to say what it means" || r.problems[1].Line != 27 {
		t.Errorf("problems %v", r.problems)
	}
}

func TestRowsStayRows(t *testing.T) {
	got := row(Setting{Variable: "HUB_STORE", Meaning: "In HUB_HOME or `HUB_ADDR`, a|b.", Secret: true})
	if want := "| `HUB_STORE` | – | In `HUB_HOME` or `HUB_ADDR`, a\\|b. *Secret.* |\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
