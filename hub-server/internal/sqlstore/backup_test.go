package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/backup"
	"github.com/switchyard-dev/switchyard/hub-server/internal/testpg"
)

// emptyAddresses are stores that are not there yet.
func emptyAddresses() map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{"sqlite": newFile, "postgres": testpg.Start}
}

// fill uses a store as a hub does, and leaves values of every kind in it.
func fill(t *testing.T, address string) *Store {
	t.Helper()
	s := openAt(t, address)
	r := newRecord(t, s, startWriter(t, s))
	a := newAsker(t, r)
	a.must(a.ask("person", `{"command":"ls"}`), "allow")
	do(t, r.writer, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO blob_chunks (upload_id, part, data) VALUES (1, 0, $1), (1, 1, $2)`, []byte{0, 255, 10}, []byte{})
		return err
	})
	if err := NewPeers(s, r.writer).Announce(t.Context(), "hub", time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := testSealer(t, s, r.writer).Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func take(t *testing.T, address string) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := Backup(t.Context(), address, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// rowsOf lists what a backup holds, whatever the order of its rows, but for what a restore changes: the epoch, and the audit log's last entry.
func rowsOf(t *testing.T, data []byte) map[string][]string {
	t.Helper()
	r, err := backup.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	var table backup.Table
	for {
		part, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if part.Table != nil {
			table = *part.Table
			found[table.Name] = nil
			continue
		}
		for _, changed := range []string{"epoch", "audit_seq"} {
			if at := slices.Index(table.Columns, changed); at >= 0 {
				part.Row[at] = "left out"
			}
		}
		if slices.Contains(part.Row, any(string(audit.StoreRestored))) {
			continue
		}
		found[table.Name] = append(found[table.Name], fmt.Sprintf("%#v", part.Row))
	}
	for name := range found {
		slices.Sort(found[name])
	}
	return found
}

func TestABackupOfEitherStoreIsRestoredIntoEither(t *testing.T) {
	for from, source := range addresses() {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			address := source(t)
			s := fill(t, address)
			data := take(t, address) // while the hub has the store open
			want := rowsOf(t, data)
			if len(want["run_events"]) == 0 || len(want["prompts"]) == 0 || len(want["outbox"]) == 0 {
				t.Fatalf("too little to compare: %v", want)
			}
			for to, target := range emptyAddresses() {
				t.Run(to, func(t *testing.T) {
					address := target(t)
					header, err := Restore(t.Context(), address, bytes.NewReader(data))
					if err != nil {
						t.Fatal(err)
					}
					got := rowsOf(t, take(t, address))
					if len(want["hubs"]) != 1 || len(got["hubs"]) != 0 {
						t.Errorf("hubs that lived then: %v, that live in the restored store: %v", want["hubs"], got["hubs"])
					}
					for table := range want {
						if table == "hubs" {
							continue
						}
						if !slices.Equal(got[table], want[table]) {
							t.Errorf("table %s has %d rows, other ones than the %d of the backup", table, len(got[table]), len(want[table]))
						}
					}
					restored := openAt(t, address)
					if restored.Epoch() == s.Epoch() || header.Epoch == "" {
						t.Errorf("epoch is %s again", restored.Epoch())
					}
					acts, _ := since(t, restored, 0)
					if last := acts[len(acts)-1]; last != (audit.Entry{Act: audit.StoreRestored, Detail: header.Epoch}) {
						t.Errorf("last entry of the audit log is %+v", last)
					}
					sealer := testSealer(t, restored, nil)
					if v, err := audit.Verify(t.Context(), sealer.Store, sealer.Signer); err != nil || v.Sealed == 0 || v.Unsealed != 1 {
						t.Errorf("audit log: %+v, %v", v, err)
					}
					do(t, startWriter(t, restored), nil, emit("typing")) // it goes on where the numbers of the backup end
				})
			}
		})
	}
}

func TestARestoreLeavesAUsedStoreAlone(t *testing.T) {
	data := take(t, filled(t))
	for name, address := range addresses() {
		t.Run(name, func(t *testing.T) {
			used := address(t)
			s := fill(t, used)
			before, epoch := rowsOf(t, take(t, used)), s.Epoch()
			if name == "sqlite" {
				if _, err := Restore(t.Context(), used, bytes.NewReader(data)); !errors.Is(err, ErrLocked) {
					t.Errorf("beside a hub: %v, want ErrLocked", err)
				}
				return
			}
			if _, err := Restore(t.Context(), used, bytes.NewReader(data)); !errors.Is(err, ErrNotEmpty) {
				t.Errorf("got %v, want ErrNotEmpty", err)
			}
			if after := rowsOf(t, take(t, used)); !maps.EqualFunc(before, after, slices.Equal) || s.Epoch() != epoch {
				t.Error("the store was changed")
			}
		})
	}
}

// filled is the address of a SQLite store that nobody has open.
func filled(t *testing.T) string {
	t.Helper()
	address := newFile(t)
	t.Run("fill", func(t *testing.T) { fill(t, address) })
	return address
}

func TestARestoreOfAUsedFileIsRefused(t *testing.T) {
	address := filled(t)
	if _, err := Restore(t.Context(), address, bytes.NewReader(take(t, address))); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("got %v, want ErrNotEmpty", err)
	}
}

func TestAStoreWhoseRestoreWasInterruptedIsNotOpened(t *testing.T) {
	eachEmpty(t, func(t *testing.T, address string) {
		s, err := Open(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.writeDB.ExecContext(t.Context(), `UPDATE store_counter SET epoch = $1`, halfRestored)
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), address); !errors.Is(err, ErrHalfRestored) {
			t.Errorf("got %v, want ErrHalfRestored", err)
		}
	})
}

func TestADamagedBackupChangesNothing(t *testing.T) {
	data := take(t, filled(t))
	address := newFile(t)
	if _, err := Restore(t.Context(), address, bytes.NewReader(data[:len(data)-10])); !errors.Is(err, backup.ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
	if _, err := os.Stat(address); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a store was made: %v", err)
	}
}

func TestABackupOfAnOlderSchemaIsRestoredAndMigrated(t *testing.T) {
	eachEmpty(t, func(t *testing.T, address string) {
		const schema = 5 // before prompts
		var out bytes.Buffer
		w, err := backup.NewWriter(&out, backup.Header{Schema: schema})
		for table, row := range map[string][]any{"store_counter": {int64(1), "00000000000000aa", int64(9)}} {
			err = errors.Join(err, w.Table(backup.Table{Name: table, Columns: []string{"id", "epoch", "outbox_pos"}}), w.Row(row))
		}
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(t.Context(), address, bytes.NewReader(out.Bytes())); err != nil {
			t.Fatal(err)
		}
		found, err := SchemaOf(t.Context(), address)
		if err != nil || found.Have != found.Want || found.Want <= schema {
			t.Errorf("schema %+v, %v", found, err)
		}
		if bounds, err := openAt(t, address).Bounds(t.Context()); err != nil || bounds.Head != 9 {
			t.Errorf("bounds %+v, %v", bounds, err)
		}
	})
}

func eachEmpty(t *testing.T, contract func(t *testing.T, address string)) {
	t.Helper()
	for name, address := range emptyAddresses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contract(t, address(t))
		})
	}
}
