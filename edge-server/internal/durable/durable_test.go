package durable_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/durable"
)

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("it holds %q (%v), want %q", got, err, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode: %v (%v)", info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("beside it: %v (%v)", left, err)
	}
}

func TestReplaceLeavesTheNewBytesAndNothingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, data := range []string{"first", "second, longer", "3"} {
		if err := durable.Replace(path, []byte(data)); err != nil {
			t.Fatal(err)
		}
		holds(t, path, data)
	}
}

func TestWhatCannotBeWrittenLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := durable.Replace(path, nil); err == nil {
		t.Error("a file has replaced a folder")
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("left: %v (%v)", left, err)
	}
}

func TestFoldersAreMadeWithThoseAboveThem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := durable.MakeFolder(path); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v (%v)", info, err)
	}
	if err := os.WriteFile(filepath.Join(path, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := durable.MakeFolder(filepath.Join(path, "file", "c")); err == nil {
		t.Error("a folder was made in a file")
	}
}
