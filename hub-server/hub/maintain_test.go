package hub

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func homeIn(t *testing.T, dir string) Config {
	t.Helper()
	config, err := LoadConfig([]string{"HUB_HOME=" + dir})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestABackupIsPrivateAndReplacesNothing(t *testing.T) {
	config, folder := homeIn(t, t.TempDir()), t.TempDir()
	store, err := OpenStore(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "backup")
	header, err := Backup(t.Context(), config, path) // while the store is open
	if err != nil {
		t.Fatal(err)
	}
	first, err := os.Stat(path)
	if err != nil || first.Mode().Perm() != 0o600 {
		t.Fatalf("the file is %v, %v", first, err)
	}
	if _, err := Backup(t.Context(), config, path); err == nil {
		t.Error("a second backup took the name of the first")
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
	restored, err := Restore(t.Context(), homeIn(t, filepath.Join(t.TempDir(), "new")), path)
	if err != nil || restored != header {
		t.Errorf("restored %+v, %v; want %+v", restored, err, header)
	}
}

func TestABackupThatFailsLeavesNoFile(t *testing.T) {
	folder := t.TempDir()
	_, err := Backup(t.Context(), homeIn(t, t.TempDir()), filepath.Join(folder, "backup"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a store that is not there: %v", err)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 0 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
}
