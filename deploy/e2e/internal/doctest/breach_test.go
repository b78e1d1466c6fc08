package doctest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const sample = "# A title, with signs!\n" +
	"Use `make demo` or `make sure`, see [there](b.md#part) and ![picture](missing.svg).\n" +
	"Code is not a link: `[x](nowhere.md)`. Set `HUB_ADDR`. Watch `switchyard_edge_journal_head`. Out: [up](../x.md) [web](https://example.org/x)\n" +
	"\n" + tested + "\n```sh\n$ make help # lists them\nbin/yard --device b send --session demo \"hello\"\nbin/yard edge enrol laptop\n```\n" +
	"## Part\n## Part\n[self](#part-1) [bad](#part-2) [title](#a-title-with-signs)\n"

func TestADocumentIsTakenApart(t *testing.T) {
	d := parse("docs/a.md", sample)
	if len(d.Blocks) != 1 || d.Blocks[0].Language != "sh" || !d.Blocks[0].Tested || d.Blocks[0].Line != 6 {
		t.Errorf("blocks: %+v", d.Blocks)
	}
	for anchor := range map[string]bool{"a-title-with-signs": true, "part": true, "part-1": true} {
		if !d.anchors[anchor] {
			t.Errorf("no anchor %s in %v", anchor, d.anchors)
		}
	}
}

func names(mentions []Mention) []string {
	var all []string
	for _, m := range mentions {
		all = append(all, m.Name)
	}
	return all
}

func TestNamesAreFoundInCodeOnly(t *testing.T) {
	d := parse("docs/a.md", "make nothing of HUB_PROSE\n"+sample)
	if got, want := names(Targets(d)), []string{"demo", "sure", "help"}; !slices.Equal(got, want) {
		t.Errorf("targets %v, want %v", got, want)
	}
	if got, want := names(Commands(d, "yard")), []string{"send", "edge enrol"}; !slices.Equal(got, want) {
		t.Errorf("commands %v, want %v", got, want)
	}
	if got, want := names(Metrics(d)), []string{"journal_head"}; !slices.Equal(got, want) {
		t.Errorf("metrics %v, want %v", got, want)
	}
	if got, want := names(Settings(d)), []string{"HUB_ADDR"}; !slices.Equal(got, want) {
		t.Errorf("settings %v, want %v", got, want)
	}
}

func TestABrokenLinkIsReported(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "docs", "b.md"), []byte("## Other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	documents := []Document{parse("docs/a.md", sample), parse("docs/b.md", "## Other\n")}
	want := []string{
		"docs/a.md:2: b.md#part: no such heading",
		"docs/a.md:2: missing.svg: no such file",
		"docs/a.md:3: ../x.md: no such file",
		"docs/a.md:13: #part-2: no such heading",
	}
	if got := BrokenLinks(root, documents); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

const tests = `package x_test

import "testing"

func TestThere(t *testing.T) {}
func FuzzThere(f *testing.F) {}
func TestHelper(t *testing.T, n int) {}
func TestNoTest() {}
func (s suite) TestOfASuite(t *testing.T) {}
`

func TestATestThatIsNotThereIsReported(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "x_test.go"), []byte(tests), 0o644); err != nil {
		t.Fatal(err)
	}
	text := "[`x.TestThere`](x_test.go) [`x.FuzzThere`](x_test.go)\n[`y.TestThere`](x_test.go)\n[`x.TestGone`](x_test.go)\n" +
		"[`x.TestHelper`](x_test.go)\n[`x.TestNoTest`](x_test.go)\n[`x.TestOfASuite`](x_test.go)\n"
	missing, err := Unproven(root, []Document{parse("a.md", text)})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a.md:2: y.TestThere: not in x_test.go",
		"a.md:3: x.TestGone: not in x_test.go",
		"a.md:4: x.TestHelper: not in x_test.go",
		"a.md:5: x.TestNoTest: not in x_test.go",
		"a.md:6: x.TestOfASuite: not in x_test.go",
	}
	if !slices.Equal(missing, want) {
		t.Errorf("got %q, want %q", missing, want)
	}
	if _, err := Unproven(root, []Document{parse("a.md", "[`x.TestThere`](gone_test.go)")}); err == nil {
		t.Error("a file that is not there was taken for a proof")
	}
}

func TestAPromiseWithoutATestIsSeen(t *testing.T) {
	got := Promises("| # | guarantee |\n|---|---|\n| P1 | kept | [`x.TestThere`](x_test.go), [`x.TestOther`](x_test.go) |\n| SEC2 | hoped | `TestThere` |\n")
	if want := []Promise{{"P1", 3, 2}, {"SEC2", 4, 0}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

const controls = "## Controls\n\n| promise | broken | seen by |\n|---|---|---|\n" +
	"| **P1, SEC2** | a rule | [`x.TestThere`](x_test.go) |\n" +
	"| **P3** | a rule | nothing |\n" +
	"| – | P4 | [`x.TestThere`](x_test.go) |\n" +
	"## Other\n| **P5** | a rule | [`x.TestThere`](x_test.go) |\n"

func TestAPromiseWithoutAControlIsSeen(t *testing.T) {
	got := Uncontrolled(controls, "Controls", []string{"P1", "P2", "SEC2", "P3", "P4", "P5", "P11"})
	if want := []string{"P2", "P3", "P4", "P5", "P11"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Uncontrolled(controls, "Gone", []string{"P1"}); !slices.Equal(got, []string{"P1"}) {
		t.Errorf("without the table got %v", got)
	}
}
