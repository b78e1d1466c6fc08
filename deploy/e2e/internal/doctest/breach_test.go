package doctest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const sample = "# A title, with signs!\n" +
	"Use `make demo` or `make sure`, see [there](b.md#part) and ![picture](missing.svg).\n" +
	"Code is not a link: `[x](nowhere.md)`. Set `HUB_ADDR`. Out: [up](../x.md) [web](https://example.org/x)\n" +
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
	if got, want := names(YardCommands(d)), []string{"send", "edge enrol"}; !slices.Equal(got, want) {
		t.Errorf("commands %v, want %v", got, want)
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
