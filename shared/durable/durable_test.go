package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/durable"
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

func TestCreateLeavesWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := durable.Create(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := durable.Create(path, []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	holds(t, path, "first")
}

func TestOfManyThatCreateAtOnceOneSucceeds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var made atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := durable.Create(path, []byte("one")); err == nil {
				made.Add(1)
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("%d succeeded", made.Load())
	}
	holds(t, path, "one")
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
