package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// FuzzRecovery opens a journal whose files were cut or changed. It either refuses, or its check finds the damage, or what it has is a
// beginning of what was written. It never panics and never makes something up.
func FuzzRecovery(f *testing.F) {
	const n = 40
	main, log := damagedJournal(f, n)
	f.Add(uint32(len(log)/2), uint32(0), byte(0), false)
	f.Add(uint32(len(log)), uint32(len(log)-300), byte(1), false)
	f.Add(uint32(0), uint32(4096*3+17), byte(0x80), true)
	f.Fuzz(func(t *testing.T, keep, at uint32, flip byte, inMain bool) {
		home := t.TempDir()
		file, wal := bytes.Clone(main), bytes.Clone(log)
		wal = wal[:min(int(keep), len(wal))]
		if target := map[bool][]byte{true: file, false: wal}[inMain]; len(target) > 0 {
			target[int(at)%len(target)] ^= flip
		}
		for name, content := range map[string][]byte{"journal.db": file, "journal.db-wal": wal} {
			if err := os.WriteFile(filepath.Join(home, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		j, err := journal.Open(t.Context(), options(home))
		if err != nil {
			return
		}
		defer func() {
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		}()
		if j.Verify(t.Context()) != nil {
			return
		}
		for i, e := range rows(t, j, 1) {
			if e.Seq != uint64(i+1) || i >= n || string(e.Payload) != `{"state":"`+strconv.Itoa(i+1)+`"}` {
				t.Fatalf("row %d is %+v", i+1, e)
			}
		}
	})
}

// damagedJournal returns the files of a journal of n rows whose process did not close it.
func damagedJournal(f *testing.F, n int) (main, log []byte) {
	f.Helper()
	home := f.TempDir()
	j := open(f, options(home))
	r := id.NewRun()
	for i := range n {
		if err := j.Commit(f.Context(), origin(r), numbered(i+1)); err != nil {
			f.Fatal(err)
		}
	}
	main, err := os.ReadFile(filepath.Join(home, "journal.db"))
	if err != nil {
		f.Fatal(err)
	}
	log, err = os.ReadFile(filepath.Join(home, "journal.db-wal"))
	if err != nil {
		f.Fatal(err)
	}
	return main, log
}
