package sqlstore

import (
	"context"
	"database/sql"
	"sync"
	"testing"
	"time"
)

// One that has to be made waits for a connection; those that are there do not wait for it.
func TestAStatementThatIsPreparedHoldsUpNoOther(t *testing.T) {
	s := openAt(t, newFile(t))
	if _, err := s.prepared(t.Context(), `SELECT 1`); err != nil { //nolint:sqlclosecheck // it belongs to the store
		t.Fatal(err)
	}
	for range s.readDB.Stats().MaxOpenConnections {
		conn, err := s.readDB.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // end of the test
	}
	ctx, cancel := context.WithCancel(t.Context())
	var making sync.WaitGroup
	making.Go(func() {
		if _, err := s.prepared(ctx, `SELECT 2`); err == nil { //nolint:sqlclosecheck // there is none
			t.Error("prepared without a connection")
		}
	})
	for s.readDB.Stats().WaitCount == 0 {
		<-time.After(time.Millisecond)
	}
	got := make(chan error, 1)
	making.Go(func() {
		_, err := s.prepared(ctx, `SELECT 1`) //nolint:sqlclosecheck // it belongs to the store
		got <- err
	})
	select {
	case err := <-got:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("a statement that is there waits for one that is not")
	}
	cancel()
	making.Wait()
}

func TestOfStatementsThatArePreparedAtOnceTheFirstIsKept(t *testing.T) {
	s := openAt(t, newFile(t))
	const takers = 16
	stmts := make(chan *sql.Stmt, takers)
	var all sync.WaitGroup
	for range takers {
		all.Go(func() {
			stmt, err := s.prepared(t.Context(), `SELECT 3`) //nolint:sqlclosecheck // it belongs to the store
			if err != nil {
				t.Error(err)
			}
			stmts <- stmt
		})
	}
	all.Wait()
	kept := s.reads.get(`SELECT 3`) //nolint:sqlclosecheck // likewise
	for range takers {
		if <-stmts != kept {
			t.Fatal("somebody has a statement that nobody will close")
		}
	}
	var n int
	if err := kept.QueryRowContext(t.Context()).Scan(&n); err != nil || n != 3 {
		t.Errorf("%d, %v", n, err)
	}
}
