package screen

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

func TestATablesColumnsLineUp(t *testing.T) {
	var out bytes.Buffer
	err := Table(&out, Style{}, []string{"name", "state"}, [][]string{{"scout", "online"}, {"größer", "off\nline"}, {"", ""}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "name    state\nscout   online\ngrößer  off line\n\n"
	if out.String() != want {
		t.Errorf("got\n%q, want\n%q", out.String(), want)
	}
}

func TestTimesAndSizesAreToldInOneUnit(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "now", 12 * time.Second: "12 s", 3 * time.Minute: "3 min", 5 * time.Hour: "5 h", 9 * 24 * time.Hour: "9 d",
	} {
		if got := Ago(now, now.Add(-d)); got != want {
			t.Errorf("Ago(%v) = %q, want %q", d, got, want)
		}
	}
	if got := Ago(now, time.Time{}); got != "-" {
		t.Errorf("no time: %q", got)
	}
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 12 * time.Millisecond: "12 ms", 2100 * time.Millisecond: "2.1 s", 185 * time.Second: "3 min 5 s",
	} {
		if got := Took(d); got != want {
			t.Errorf("Took(%v) = %q, want %q", d, got, want)
		}
	}
	for size, want := range map[int64]string{812: "812 B", 4212: "4.2 kB", 1500000: "1.5 MB"} {
		if got := Size(size); got != want {
			t.Errorf("Size(%d) = %q, want %q", size, got, want)
		}
	}
}

func TestArgumentsAreSummarised(t *testing.T) {
	for raw, want := range map[string]string{
		`{"path":"a.go","limit":3}`:     "a.go",
		`{"limit":3}`:                   "limit=3",
		`{"b":"x","a":[1]}`:             "a=[1] b=x",
		`{}`:                            "",
		`[1,2]`:                         "[1,2]",
		`{"command":"a\nb   c"}`:        "a b c",
		`{"path":"a rather long path"}`: "a rather lo…",
	} {
		if got := Arguments(json.RawMessage(raw), 12); got != want {
			t.Errorf("Arguments(%s) = %q, want %q", raw, got, want)
		}
	}
	if got := Line(strings.Repeat("x", 20), 10); got != "xxxxxxxxx…" {
		t.Errorf("long line: %q", got)
	}
}

func TestColourIsForTerminalsThatWantIt(t *testing.T) {
	none := func(string) string { return "" }
	var buffer bytes.Buffer
	if got := StyleFor(&buffer, false, none).Red("x"); got != "x" {
		t.Errorf("no terminal: %q", got)
	}
	file, err := os.Create(t.TempDir() + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if IsTerminal(file) {
		t.Error("a file counts as a terminal")
	}
	if got := Coloured().Red("x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("coloured: %q", got)
	}
	if got := Coloured().Red(""); got != "" {
		t.Errorf("nothing to colour: %q", got)
	}
}

func TestColumnsStandBelowEachOtherWhateverTheScript(t *testing.T) {
	var b strings.Builder
	if err := Table(&b, Style{}, []string{"name", "id"}, [][]string{{"周五的计划", "1"}, {"demo", "2"}}); err != nil {
		t.Fatal(err)
	}
	if want := "name        id\n周五的计划  1\ndemo        2\n"; b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
