package journal_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"pgregory.net/rapid"
)

// A new incarnation has exactly the rows that were not committed, from 1 on, with their ids and payloads; a live run can still be restored
// from all of its events.
func TestNewIncarnationKeepsWhatWasNotCommitted(t *testing.T) {
	ctx := context.Background()
	opts := options(t.TempDir())
	j := open(t, opts)
	rapid.Check(t, func(rt *rapid.T) {
		live, ended := id.NewRun(), id.NewRun()
		admit(t, j.Journal, live)
		admit(t, j.Journal, ended)
		n := rapid.IntRange(0, 12).Draw(rt, "rows")
		for i := range n {
			r := []id.Run{live, ended}[rapid.IntRange(0, 1).Draw(rt, "run")]
			if err := j.Append(ctx, origin(r), state(strconv.Itoa(i))); err != nil {
				rt.Fatal(err)
			}
		}
		if err := errors.Join(j.Commit(ctx, origin(ended), completed()), j.Flush(ctx, live)); err != nil {
			rt.Fatal(err)
		}
		old := rows(t, j.Journal, 1)
		before, err := j.Events(ctx, live)
		if err != nil {
			rt.Fatal(err)
		}
		committed := rapid.IntRange(0, len(old)).Draw(rt, "committed")
		s := j.State()
		j.PutCommitted(wire.CommitReceipt{Incarnation: s.Incarnation, Seq: wire.ProducerSeq(committed)})
		if err := j.Renumber(ctx); err != nil {
			rt.Fatal(err)
		}
		if rapid.IntRange(0, 9).Draw(rt, "restart") == 9 {
			if err := j.stop(); err != nil {
				rt.Fatal(err)
			}
			j = open(t, opts)
		}
		fresh := j.State()
		if fresh.Incarnation == s.Incarnation || fresh.Floor != 1 || fresh.Receipt != nil {
			rt.Fatalf("state is %+v", fresh)
		}
		same(rt, rows(t, j.Journal, 1), old[committed:], 1)
		after, err := j.Events(ctx, live)
		if err != nil {
			rt.Fatal(err)
		}
		same(rt, after, before, 0)
		if err := j.Verify(ctx); err != nil {
			rt.Fatal(err)
		}
	})
}

// same compares events but for their numbers, which count from first unless that is 0.
func same(rt *rapid.T, got, want []event.Envelope, first uint64) {
	if len(got) != len(want) {
		rt.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].ID != want[i].ID || string(got[i].Payload) != string(want[i].Payload) || first > 0 && got[i].Seq != first+uint64(i) {
			rt.Fatalf("event %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}
