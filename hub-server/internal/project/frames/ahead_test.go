package frames

import (
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestOnlyWhatIsKeptWholeIsTakenFromAhead(t *testing.T) {
	var a ahead
	run := id.NewRun()
	events := make([]runlog.StoredEvent, 10)
	for i := range events {
		events[i] = runlog.StoredEvent{Run: run, Seq: runlog.EventSeq(i + 5), Payload: []byte(`{}`)}
	}
	a.keep(run, events) // 5 to 14
	for _, c := range []struct {
		run      id.Run
		from, to runlog.EventSeq
		ok       bool
	}{
		{run, 5, 14, true}, {run, 7, 9, true}, {run, 14, 14, true},
		{run, 4, 6, false}, {run, 14, 15, false}, {run, 20, 21, false}, {id.NewRun(), 5, 5, false},
	} {
		got, ok := a.take(c.run, c.from, c.to)
		if ok != c.ok {
			t.Fatalf("%d to %d: %v", c.from, c.to, ok)
		}
		if ok && (got[0].Seq != c.from || got[len(got)-1].Seq != c.to || len(got) != int(c.to-c.from)+1) {
			t.Errorf("%d to %d: got %d to %d", c.from, c.to, got[0].Seq, got[len(got)-1].Seq)
		}
	}
}

func TestWhatIsKeptAheadIsBounded(t *testing.T) {
	var a ahead
	run := id.NewRun()
	large := runlog.StoredEvent{Payload: make([]byte, aheadBytes/2)}
	first, second, third := large, large, large
	first.Seq, second.Seq, third.Seq = 1, 2, 3
	a.keep(run, []runlog.StoredEvent{first, second, third})
	if _, ok := a.take(run, 1, 2); !ok {
		t.Error("what fits is not kept")
	}
	if _, ok := a.take(run, 3, 3); ok {
		t.Error("more is kept than fits")
	}
	for range 2 * aheadRuns {
		a.keep(id.NewRun(), []runlog.StoredEvent{first})
	}
	if len(a.runs) > aheadRuns {
		t.Errorf("%d runs are kept", len(a.runs))
	}
}
