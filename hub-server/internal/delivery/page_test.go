package delivery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
	"pgregory.net/rapid"
)

// pageOneByOne is what pageOf promises.
func pageOneByOne(tail *Tail, user id.User, rows []*passed) (frames []Frame, done int, err error) {
	for size := 0; done < len(rows) && size < pageBytes; done++ {
		expansions, err := tail.expand.Expand(context.Background(), []Row{rows[done].row})
		if err != nil {
			return nil, 0, err
		}
		seen := tail.encode(rows[done].row, expansions[0]).of(user)
		size += sizeOf(seen)
		frames = append(frames, seen...)
	}
	return frames, done, nil
}

func TestAPageIsTheSameHoweverManyRowsAreReadTogether(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		me, bad := id.NewUser(), Position(rapid.IntRange(0, 15).Draw(rt, "row that cannot be read"))
		tail := newTestTail(newMemoryOutbox(), inline{fail: func(r Row) error {
			if r.Position == bad {
				return errStore
			}
			return nil
		}})
		var rows []*passed
		for i := range rapid.IntRange(0, 10).Draw(rt, "rows") {
			row := note(ToUser(me), i)
			fill := rapid.SampledFrom([]int{0, 1 << 10, 100 << 10, pageBytes}).Draw(rt, "bytes")
			row.Position, row.Payload = Position(i+1), fmt.Appendf(nil, `{"fill":"%s"}`, bytes.Repeat([]byte("x"), fill))
			row.Bytes = rapid.SampledFrom([]int{0, 1, 1 << 20}).Draw(rt, "bytes that it says it has")
			rows = append(rows, &passed{row: row})
			if known := rapid.Bool().Draw(rt, "known"); known {
				rows[i] = &passed{row: row, frames: tail.encode(row, inlined(row)), encoded: true}
			}
		}
		want, wantDone, wantErr := pageOneByOne(tail, me, rows)
		if bad > 0 && int(bad) <= len(rows) && rows[bad-1].encoded {
			return // it need not be read
		}
		got, done, err := tail.pageOf(context.Background(), me, rows)
		if done != wantDone || errors.Is(err, errStore) != (wantErr != nil) || len(got) != len(want) {
			rt.Fatalf("%d frames of %d rows, error %v, want %d of %d, error %v", len(got), done, err, len(want), wantDone, wantErr)
		}
		for i := range got {
			if !bytes.Equal(got[i].Append(nil, 1), want[i].Append(nil, 1)) {
				rt.Fatalf("frame %d differs", i)
			}
		}
	})
}

// calls counts how often rows are expanded.
type calls struct {
	inline
	rows []int // of each call
}

func (c *calls) Expand(ctx context.Context, rows []Row) ([]Expansion, error) {
	c.rows = append(c.rows, len(rows))
	return c.inline.Expand(ctx, rows)
}

func TestRowsOfManyConversationsAreExpandedTogether(t *testing.T) {
	o, x := newMemoryOutbox(), &calls{}
	me := id.NewUser()
	tail := started(t, o, x)
	_, read := follow(t, tail, me, 0)
	read()
	const conversations = 50
	for n := range conversations {
		s := id.NewSession()
		o.commit(joined(s, me), note(ToSession(s), n), note(ToSession(id.NewSession()), 0))
	}
	step(t, tail) // the rows that let them in are not foreseen to be theirs
	read()
	x.rows = nil
	for n := range conversations {
		o.commit(note(ToSession(o.rows[3*n].Session), n), note(ToSession(id.NewSession()), 0))
	}
	step(t, tail)
	if got := read(); len(got) != conversations {
		t.Errorf("heard of %d", len(got))
	}
	if len(x.rows) != 1 || x.rows[0] != conversations {
		t.Errorf("expanded in %v, want all at once and nobody else's", x.rows)
	}
}
