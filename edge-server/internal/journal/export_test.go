package journal

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// LimitPages makes the file full at its present size plus more pages, as a full disk would. lift ends that.
func (j *Journal) LimitPages(t *testing.T, more int) (lift func()) {
	t.Helper()
	var pages int
	if err := j.db.writeDB.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	set := func(n int) {
		var got int
		if err := j.db.writeDB.QueryRow(fmt.Sprintf("PRAGMA max_page_count = %d", n)).Scan(&got); err != nil || got != n {
			t.Fatalf("limit is %d, want %d: %v", got, n, err)
		}
	}
	set(pages + more)
	return func() { set(1 << 30) }
}

// MaintainOnce runs one round of maintenance.
func (j *Journal) MaintainOnce(t *testing.T) {
	t.Helper()
	if err := j.maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// SetFormat writes another format number into the file.
func (j *Journal) SetFormat(t *testing.T, n int) {
	t.Helper()
	if _, err := j.db.writeDB.Exec(fmt.Sprintf("PRAGMA user_version = %d", n)); err != nil {
		t.Fatal(err)
	}
}

// FailBlobs makes the next n blobs fail as on a full disk.
func (j *Journal) FailBlobs(n int) {
	j.blobs.create = func(folder, pattern string) (*os.File, error) {
		if n--; n >= 0 {
			return nil, &os.PathError{Op: "open", Path: folder, Err: unix.ENOSPC}
		}
		return os.CreateTemp(folder, pattern)
	}
}
