package journal_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"pgregory.net/rapid"
)

// numbersOf are the numbers of rows.
func numbersOf(t rapid.TB, rows [][]byte) (numbers []wire.ProducerSeq) {
	t.Helper()
	for _, row := range rows {
		e, err := event.ParseRow(row)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, wire.ProducerSeq(e.Seq))
	}
	return numbers
}

func upTo(first, last wire.ProducerSeq) (numbers []wire.ProducerSeq) {
	for ; first <= last; first++ {
		numbers = append(numbers, first)
	}
	return numbers
}

// However a reader is cut off and whatever is trimmed meanwhile: from its first number on it is shown each row once and in order, or told
// which ones are gone, and those really were.
func TestReaderSeesEachRowOnceOrHearsThatItIsGone(t *testing.T) {
	opts := options(t.TempDir())
	opts.Window = time.Nanosecond
	j := open(t, opts)
	rapid.Check(t, func(r *rapid.T) {
		next := j.State().Head + wire.ProducerSeq(rapid.IntRange(1, 4).Draw(r, "cursor"))
		begin := next
		var seen, gone []wire.ProducerSeq
		r.Repeat(map[string]func(*rapid.T){
			"append": func(r *rapid.T) {
				events := slices.Repeat([]run.Candidate{state("a")}, rapid.IntRange(1, 5).Draw(r, "rows"))
				must(t, j.Commit(context.Background(), origin(id.NewRun()), events...))
			},
			"trim": func(r *rapid.T) {
				s := j.State()
				last := rapid.Uint64Range(uint64(s.Floor), uint64(s.Head)+1).Draw(r, "committed")
				j.PutCommitted(wire.CommitReceipt{Incarnation: s.Incarnation, Seq: min(wire.ProducerSeq(last), s.Head)})
				j.MaintainOnce(t)
			},
			"read": func(r *rapid.T) {
				page, err := j.ReadPage(context.Background(), next, rapid.IntRange(1, 3).Draw(r, "limit"))
				must(t, err)
				gone = append(gone, upTo(next, page.First-1)...)
				seen = append(seen, numbersOf(r, page.Rows)...)
				next = page.First + wire.ProducerSeq(len(page.Rows))
			},
			"": func(r *rapid.T) {
				all := append(slices.Clone(seen), gone...)
				slices.Sort(all)
				if !slices.IsSorted(seen) || !slices.Equal(all, upTo(begin, next-1)) {
					r.Fatalf("from %d: saw %v, heard that %v are gone", begin, seen, gone)
				}
				if floor := j.State().Floor; len(gone) > 0 && gone[len(gone)-1] >= floor {
					r.Fatalf("%v are called gone, the floor is %d", gone, floor)
				}
			},
		})
	})
}

func TestPageIsBoundedInRowsAndBytes(t *testing.T) {
	j := open(t, options(t.TempDir()))
	r := id.NewRun()
	for range 12 {
		must(t, j.Commit(t.Context(), origin(r), state(string(make([]byte, 20<<10)))))
	}
	page, err := j.ReadPage(t.Context(), 2, 3)
	if got := numbersOf(t, page.Rows); err != nil || page.First != 2 || !slices.Equal(got, upTo(2, 4)) {
		t.Errorf("rows %v from %d, %v", got, page.First, err)
	}
	page, err = j.ReadPage(t.Context(), 1, 100)
	if err != nil || len(page.Rows) == 0 || len(page.Rows) == 12 {
		t.Errorf("a page has %d rows of 120 KiB, %v", len(page.Rows), err)
	}
	events, err := j.ReadRun(t.Context(), r, 0, 100)
	if err != nil || len(events.Rows) == 0 || len(events.Rows) == 12 || !events.More {
		t.Errorf("a page of a run has %d rows of 120 KiB, more %v, %v", len(events.Rows), events.More, err)
	}
}

// What is in a row can be read here before its blob has reached the hub.
func TestPageDoesNotWaitForBlobs(t *testing.T) {
	j := open(t, options(t.TempDir()))
	must(t, j.Commit(t.Context(), origin(id.NewRun()), large(), completed()))
	page, err := j.ReadPage(t.Context(), 1, 10)
	if err != nil || len(page.Rows) != 2 {
		t.Errorf("%d rows, %v", len(page.Rows), err)
	}
}

func TestEventsOfOneRunAreReadBehindANumber(t *testing.T) {
	j := open(t, options(t.TempDir()))
	mine, other := id.NewRun(), id.NewRun()
	for range 3 {
		must(t, j.Commit(t.Context(), origin(mine), state("a")))
		must(t, j.Commit(t.Context(), origin(other), state("b")))
	}
	for name, tt := range map[string]struct {
		after wire.ProducerSeq
		limit int
		want  []wire.ProducerSeq
		more  bool
	}{
		"all":        {0, 3, []wire.ProducerSeq{1, 3, 5}, false},
		"first page": {0, 2, []wire.ProducerSeq{1, 3}, true},
		"exclusive":  {1, 9, []wire.ProducerSeq{3, 5}, false},
		"in between": {2, 1, []wire.ProducerSeq{3}, true},
		"at the end": {6, 9, nil, false},
	} {
		page, err := j.ReadRun(t.Context(), mine, tt.after, tt.limit)
		if got := numbersOf(t, page.Rows); err != nil || !slices.Equal(got, tt.want) || page.More != tt.more || page.Floor != 1 || page.Head != 6 {
			t.Errorf("%s: rows %v, %+v, %v", name, got, page, err)
		}
	}
}

func TestPageSaysWhichNumberingItIsOf(t *testing.T) {
	j := open(t, options(t.TempDir()))
	must(t, j.Commit(t.Context(), origin(id.NewRun()), state("a")))
	before, err := j.Extent(t.Context())
	must(t, err)
	must(t, j.Renumber(t.Context()))
	page, err := j.ReadPage(t.Context(), 1, 1)
	must(t, err)
	after, err := j.Extent(t.Context())
	must(t, err)
	if page.Incarnation == before.Incarnation || page.Incarnation != after.Incarnation || after.Head != 1 {
		t.Errorf("before %+v, page of %s, after %+v", before, page.Incarnation, after)
	}
}

func TestRunsAreListedNewestFirst(t *testing.T) {
	opts := options(t.TempDir())
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	opts.Now = func() time.Time { return now }
	j := open(t, opts)
	var runs []id.Run
	for range 3 {
		runs = append(runs, id.NewRun())
		admit(t, j.Journal, runs[len(runs)-1])
	}
	now = now.Add(time.Hour)
	must(t, j.Commit(t.Context(), origin(runs[0]), state("a"), completed()))
	for name, tt := range map[string]struct {
		before id.Run
		limit  int
		want   []id.Run
		more   bool
	}{
		"all":           {"", 3, []id.Run{runs[2], runs[1], runs[0]}, false},
		"first page":    {"", 2, []id.Run{runs[2], runs[1]}, true},
		"second page":   {runs[1], 2, []id.Run{runs[0]}, false},
		"unknown place": {id.NewRun(), 2, nil, false},
	} {
		found, more, err := j.List(t.Context(), tt.before, tt.limit)
		got := make([]id.Run, len(found))
		for i, l := range found {
			got[i] = l.ID
		}
		if err != nil || more != tt.more || !slices.Equal(got, tt.want) && len(tt.want)+len(got) > 0 {
			t.Errorf("%s: %v, more %v, %v", name, got, more, err)
		}
	}
	found, _, err := j.List(t.Context(), runs[1], 1)
	must(t, err)
	want := journal.Listing{Run: found[0].Run, Admitted: now.Add(-time.Hour), EndedAt: now, First: 1, Last: 2}
	if !found[0].Admitted.Equal(want.Admitted) || !found[0].EndedAt.Equal(now) || found[0].First != 1 || found[0].Last != 2 || found[0].Phase != journal.Ended {
		t.Errorf("run is %+v, want %+v", found[0], want)
	}
}
