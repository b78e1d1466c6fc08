package repolint

import (
	"os"
	"path/filepath"
	"testing"
)

// repository parses this repository, once per test: it takes a fraction of a second.
func repository(t *testing.T) (root string, files []File) {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	files, err = Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return root, files
}

func report(t *testing.T, problems []Problem) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}

func TestImportsRunOneWay(t *testing.T) {
	_, files := repository(t)
	report(t, Layers(files))
}

func TestTheTerminalClientUsesTheSDKAlone(t *testing.T) {
	_, files := repository(t)
	report(t, Terminal(files))
}

func TestPackagesAreNamedAfterTheirSubject(t *testing.T) {
	_, files := repository(t)
	report(t, Drawers(files))
}

func TestEachLibraryHasOneImporterPerModule(t *testing.T) {
	_, files := repository(t)
	report(t, Libraries(files))
}

func TestOnlyTheSupervisorStartsGoroutines(t *testing.T) {
	_, files := repository(t)
	report(t, Goroutines(files))
}

func TestFilesStaySmall(t *testing.T) {
	_, files := repository(t)
	report(t, Sizes(files))
	for _, line := range Census(files) {
		t.Log(line)
	}
}

func TestExportedNamesHaveAComment(t *testing.T) {
	_, files := repository(t)
	report(t, Comments(files))
}

func TestForbiddenWordsStayOut(t *testing.T) {
	root, _ := repository(t)
	err := Walk(root, func(name string) error {
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		report(t, Words(name, content))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
