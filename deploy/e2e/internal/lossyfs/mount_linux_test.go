package lossyfs

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func mounted(t *testing.T, d *Disk) (*Mount, string) {
	t.Helper()
	dir := t.TempDir()
	m, err := d.Mount(dir)
	if errors.Is(err, ErrUnable) {
		t.Skipf("optional: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Unmount(); err != nil {
			t.Error(err)
		}
	})
	return m, dir
}

func TestProgramsSeeAnOrdinaryFolderAndAfterACutWhatTheySynced(t *testing.T) {
	d := New(7)
	d.Lie() // so that chance keeps nothing
	m, dir := mounted(t, d)
	path := filepath.Join(dir, "sub", "file")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(filepath.Dir(path), 0o700))
	must(os.WriteFile(path+".new", []byte("synced"), 0o600))
	must(os.Rename(path+".new", path))
	must(os.Chmod(path, 0o640))
	must(os.Link(path, path+".again"))
	must(os.Symlink("file", path+".link"))
	d.Sync()
	must(os.WriteFile(path+".lost", []byte("never synced"), 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(err)
	shared, err := syscall.Mmap(int(f.Fd()), 0, 6, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	must(err)
	copy(shared, "mapped")
	if got, err := os.ReadFile(path); string(got) != "mapped" || err != nil {
		t.Errorf("before the cut: %q, %v", got, err)
	}
	must(syscall.Munmap(shared))
	must(f.Close())
	if left, err := os.ReadDir(filepath.Dir(path)); len(left) != 4 || err != nil {
		t.Errorf("before the cut: %v, %v", left, err)
	}

	must(m.Cut())
	got, err := os.ReadFile(path + ".link")
	if !bytes.Equal(got, []byte("synced")) || err != nil {
		t.Errorf("after the cut: %q, %v", got, err)
	}
	if _, err := os.Stat(path + ".lost"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the cut: %v", err)
	}
	if info, err := os.Stat(path + ".again"); err != nil || info.Mode() != 0o640 {
		t.Errorf("after the cut: %v, %v", info, err)
	}
}

func TestProgramsSeeThatTheDiskIsFull(t *testing.T) {
	d := New(1)
	_, dir := mounted(t, d)
	d.Limit(1 << 20)
	err := os.WriteFile(filepath.Join(dir, "file"), make([]byte, 2<<20), 0o600)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a write beyond the limit: %v", err)
	}
	if used := d.Used(); used > 1<<20 {
		t.Errorf("%d bytes are used", used)
	}
}
