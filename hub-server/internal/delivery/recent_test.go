package delivery

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
	"pgregory.net/rapid"
)

// Whoever comes back is told the same by a hub that has seen the rows pass as by one that has just started and asks the store.
func TestMemoryAnswersAsTheStoreDoes(t *testing.T) {
	users := []id.User{id.NewUser(), id.NewUser(), id.NewUser()}
	sessions := []id.Session{id.NewSession(), id.NewSession()}
	served := false
	rapid.Check(t, func(rt *rapid.T) {
		o := newMemoryOutbox()
		old := newTestTail(o, inline{})
		if _, err := old.Start(rt.Context()); err != nil {
			rt.Fatal(err)
		}
		in := map[membership]bool{}
		watcher := rapid.SampledFrom(users).Draw(rt, "watcher") // is connected, so that some rows are expanded as they pass
		w, err := old.Open(rt.Context(), watcher, 0)
		if err != nil {
			rt.Fatal(err)
		}
		defer w.Close()
		for n := range rapid.IntRange(1, 60).Draw(rt, "rows") {
			u, s := rapid.SampledFrom(users).Draw(rt, "user"), rapid.SampledFrom(sessions).Draw(rt, "session")
			key := membership{s, u}
			switch rapid.IntRange(0, 5).Draw(rt, "kind") {
			case 0:
				if in[key] = !in[key]; in[key] {
					o.commit(joined(s, u))
				} else {
					o.commit(left(s, u))
				}
			case 1:
				o.commit(note(ToUser(u), n))
			default:
				o.commit(note(ToSession(s), n))
			}
			if rapid.Bool().Draw(rt, "step") {
				stepTo(rt, old, o)
				readAll(rt, w)
			}
		}
		stepTo(rt, old, o)
		young := newTestTail(o, inline{})
		if _, err := young.Start(rt.Context()); err != nil {
			rt.Fatal(err)
		}
		from := Position(rapid.IntRange(0, len(o.rows)).Draw(rt, "from"))
		for _, u := range users {
			var told [2][]string
			for i, tail := range []*Tail{old, young} {
				s, err := tail.Open(rt.Context(), u, from)
				if err != nil {
					rt.Fatal(err)
				}
				if _, _, ok := s.fromRecent(Position(len(o.rows))); ok && i == 0 {
					served = true
				}
				told[i] = readAll(rt, s)
				s.Close()
			}
			if !slices.Equal(told[0], told[1]) {
				rt.Fatalf("from %d: out of memory %q, from the store %q", from, told[0], told[1])
			}
		}
	})
	if !served {
		t.Error("nobody was served from memory: the test shows nothing")
	}
}

func stepTo(t *rapid.T, tail *Tail, o *memoryOutbox) {
	for int(tail.Position()) < len(o.rows) {
		if _, err := tail.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// readAll returns the frames that a stream has until it is attached and empty.
func readAll(t *rapid.T, s *Stream) (told []string) {
	for {
		frames, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			told = append(told, string(f.Append(nil, 1)))
		}
		if len(frames) == 0 && s.Attached() {
			return told
		}
	}
}

func TestWhatIsKeptOfThePastIsBounded(t *testing.T) {
	o := newMemoryOutbox()
	me := id.NewUser()
	tail := started(t, o, inline{})
	_, read := follow(t, tail, me, 0)
	read()
	const rows = 3 * recentBytes / (64 << 10)
	for n := range rows {
		o.commit(fat(ToUser(me), n, 64<<10))
		step(t, tail)
		read()
	}
	if tail.recent.bytes > recentBytes {
		t.Errorf("%d bytes are kept, want at most %d", tail.recent.bytes, recentBytes)
	}
	if _, known := tail.Missed(0); known {
		t.Error("the first rows are still known")
	}
	if missed, known := tail.Missed(rows - 10); !known || missed.Rows != 10 || missed.Bytes < 10*64<<10 {
		t.Errorf("of the last 10 rows it knows %+v, %v", missed, known)
	}
	if missed, known := tail.Missed(rows); !known || missed != (Backlog{}) {
		t.Errorf("at the head %+v, %v", missed, known)
	}
	for range 3 * recentRows {
		tail.recent.add(&passed{row: Row{Position: rows + 1}})
	}
	if kept := len(tail.recent.rows) - tail.recent.start; kept > recentRows {
		t.Errorf("%d rows are kept, want at most %d", kept, recentRows)
	}
}

// Rows for one conversation are handed over together, cut where the people change.
func TestRowsGoTogetherUntilTheirPeopleChange(t *testing.T) {
	a, b, me := id.NewSession(), id.NewSession(), id.NewUser()
	rows := []Row{note(ToSession(a), 1), note(ToSession(a), 2), note(ToSession(b), 3), joined(b, me), note(ToSession(b), 4), note(ToSession(b), 5)}
	var sizes []int
	for len(rows) > 0 {
		n := together(rows)
		sizes = append(sizes, n)
		rows = rows[n:]
	}
	if !slices.Equal(sizes, []int{2, 1, 1, 2}) {
		t.Errorf("cut into %v", sizes)
	}
}

// Somebody who owns the edge sees what others do not, in the same places of one batch.
func TestABatchHasAViewForTheOwnerAndOneForTheOthers(t *testing.T) {
	owner, other := id.NewUser(), id.NewUser()
	plain := func(n byte) rowFrames { return rowFrames{all: []Frame{{tail: []byte{n}}}} }
	split := func(n byte, by id.User) rowFrames {
		return rowFrames{all: []Frame{{tail: []byte{n}}}, owner: by, others: []Frame{{tail: []byte{n + 100}}}}
	}
	var v views
	for i, f := range []rowFrames{plain(1), split(2, owner), plain(3), split(4, owner)} {
		if !v.add(Row{Position: Position(i + 1)}, f) {
			t.Fatalf("row %d does not fit", i+1)
		}
	}
	if v.add(Row{Position: 5}, split(5, other)) {
		t.Error("a row of another owner went into the same batch")
	}
	for user, want := range map[id.User]string{owner: "\x01\x02\x03\x04", other: "\x01\x66\x03\x68"} {
		var got []byte
		for _, e := range v.of(user).entries {
			got = append(got, e.frames[0].tail...)
		}
		if string(got) != want {
			t.Errorf("sees %x, want %x", got, want)
		}
	}
}

// A page is full long before the row by which somebody came back: what was said while they were out is not theirs all the same (SEC13).
func TestMemoryHandsOverNothingFromWhileSomebodyWasOut(t *testing.T) {
	o := newMemoryOutbox()
	me, s := id.NewUser(), id.NewSession()
	tail := started(t, o, inline{})
	o.commit(joined(s, me), left(s, me))
	out := Position(len(o.rows))
	for n := range 2 * pageRows {
		o.commit(note(ToSession(s), n+1))
	}
	back := o.commit(joined(s, me))
	last := o.commit(note(ToSession(s), 3*pageRows))
	for tail.Position() < last {
		step(t, tail)
	}
	if _, known := tail.Missed(out); !known {
		t.Fatal("nothing is in memory: the test shows nothing")
	}
	_, read := follow(t, tail, me, out)
	if got := read(); !slices.Equal(got, []int{0, 3 * pageRows}) {
		t.Errorf("somebody who came back got %d notes, want the one by which they came, and one", len(got))
	}
	since, read := follow(t, tail, me, back)
	if _, _, ok := since.fromRecent(last); !ok {
		t.Error("what came behind their coming is not in memory: the test shows nothing")
	}
	if got := read(); !slices.Equal(got, []int{3 * pageRows}) {
		t.Errorf("behind their coming they got %v", got)
	}
}

// Somebody joins between a stream's look at the tail and its page: the roster knows it already, and what came before is not theirs (SEC13).
func TestAPageHoldsNothingFromBeforeAJoiningThatOvertakesIt(t *testing.T) {
	for _, delivered := range []bool{false, true} {
		o := newMemoryOutbox()
		me, watcher, s := id.NewUser(), id.NewUser(), id.NewSession()
		o.commit(joined(s, watcher))
		var between func()
		tail := started(t, o, inline{fail: func(row Row) error {
			if row.ChangeUser == me && between != nil {
				between() // the roster has the row, and nobody else
			}
			return nil
		}})
		_, watch := follow(t, tail, watcher, 1)
		watch()
		o.commit(note(ToSession(s), 1), note(ToUser(me), 2))
		step(t, tail)
		mine, err := tail.Open(t.Context(), me, 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(mine.Close)
		upTo, attached := mine.attach()
		if attached {
			t.Fatal("attached, and there is something to catch up with")
		}
		var got []int
		page := func() {
			between = nil
			frames, err := mine.page(t.Context(), upTo)
			if err != nil {
				t.Fatal(err)
			}
			got = notes(t, frames)
		}
		o.commit(joined(s, me))
		if !delivered {
			between = page
		}
		step(t, tail)
		if delivered {
			page()
		}
		if !slices.Equal(got, []int{2}) {
			t.Errorf("delivered %v: the page has notes %v, want the personal 2 alone", delivered, got)
		}
	}
}

// What is remembered of changes goes with the rows.
func TestChangesAreForgottenWithTheirRows(t *testing.T) {
	o := newMemoryOutbox()
	s := id.NewSession()
	tail := started(t, o, inline{})
	for range 10 {
		o.commit(joined(s, id.NewUser()))
		step(t, tail)
	}
	if known := len(tail.recent.changes); known != 10 {
		t.Errorf("%d changes are known, want 10", known)
	}
	for n := range recentRows {
		tail.recent.add(&passed{row: Row{Position: Position(11 + n)}})
	}
	if known := len(tail.recent.changes); known != 0 {
		t.Errorf("%d changes are still known", known)
	}
}
