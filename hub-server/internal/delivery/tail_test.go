package delivery

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// follow opens a stream and returns a function that reads everything it has now, as note numbers.
func follow(t *testing.T, tail *Tail, user id.User, from Position) (*Stream, func() []int) {
	t.Helper()
	s, err := tail.Open(t.Context(), user, from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, func() []int {
		t.Helper()
		var got []int
		for {
			select {
			case <-s.Ready():
			default:
				return got
			}
			frames, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, notes(t, frames)...)
		}
	}
}

func notes(t *testing.T, frames []Frame) []int {
	t.Helper()
	var got []int
	for _, f := range frames {
		var p struct {
			N int `json:"n"`
		}
		if err := json.Unmarshal(receive(t, f, 1).Payload, &p); err != nil {
			t.Fatal(err)
		}
		got = append(got, p.N)
	}
	return got
}

func started(t *testing.T, o *memoryOutbox, x Expander) *Tail {
	t.Helper()
	tail := newTestTail(o, x)
	if _, err := tail.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return tail
}

func step(t *testing.T, tail *Tail) {
	t.Helper()
	if _, err := tail.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestRowsReachOnlyTheirAudienceInOrder(t *testing.T) {
	o := newMemoryOutbox()
	me, other, s := id.NewUser(), id.NewUser(), id.NewSession()
	o.commit(joined(s, me))
	tail := started(t, o, inline{})
	_, read := follow(t, tail, me, 1)
	read()
	o.commit(note(ToSession(s), 1), note(ToUser(other), 2), note(ToUser(me), 3), note(ToSession(id.NewSession()), 4), note(ToSession(s), 5))
	step(t, tail)
	if got := read(); !slices.Equal(got, []int{1, 3, 5}) {
		t.Errorf("got notes %v, want 1, 3, 5", got)
	}
}

func TestAMemberHearsFromJoiningToLeavingAndNothingAfter(t *testing.T) {
	o := newMemoryOutbox()
	me, s := id.NewUser(), id.NewSession()
	tail := started(t, o, inline{})
	_, read := follow(t, tail, me, 0)
	read()
	o.commit(note(ToSession(s), 1), joined(s, me), note(ToSession(s), 2), left(s, me), note(ToUser(me), 3), note(ToSession(s), 4))
	step(t, tail)
	if got := read(); !slices.Equal(got, []int{0, 2, 3}) {
		t.Errorf("got notes %v, want the joining (0), 2 and the personal 3", got)
	}
	if tail.InSession(me, s) {
		t.Error("still a member after leaving")
	}
}

func TestAHoleStopsTheTailUntilItIsFilled(t *testing.T) {
	o := newMemoryOutbox()
	me := id.NewUser()
	tail := started(t, o, inline{})
	s, read := follow(t, tail, me, 0)
	read()
	o.commit(note(ToUser(me), 1), note(ToUser(me), 2), note(ToUser(me), 3))
	o.hide = 2
	step(t, tail)
	if got := read(); !slices.Equal(got, []int{1}) || tail.Position() != 1 || s.Position() != 1 {
		t.Fatalf("before a hole: got %v, tail at %d, want note 1 alone", got, tail.Position())
	}
	o.hide = 0
	step(t, tail)
	if got := read(); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("once the hole is filled: got %v, want 2, 3", got)
	}
}

// The positive control of the test above: a reader that trusts "greater than the last one" loses the row for ever.
func TestANaiveReaderSkipsWhatBecomesVisibleLate(t *testing.T) {
	o := newMemoryOutbox()
	me := id.NewUser()
	o.commit(note(ToUser(me), 1), note(ToUser(me), 2), note(ToUser(me), 3))
	var last Position
	var got []Position
	for _, hidden := range []Position{2, 0} {
		o.hide = hidden
		rows, err := o.Rows(t.Context(), last, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			got, last = append(got, r.Position), r.Position
		}
	}
	if slices.Contains(got, 2) {
		t.Error("the naive reader saw everything: the hole in these tests is none")
	}
}

func TestAnExpansionThatFailsStopsTheTailAndIsRepeated(t *testing.T) {
	o := newMemoryOutbox()
	me := id.NewUser()
	var failing error
	tail := started(t, o, inline{fail: func(Row) error { return failing }})
	_, read := follow(t, tail, me, 0)
	read()
	o.commit(note(ToUser(me), 1), note(ToUser(me), 2))
	failing = errStore
	if _, err := tail.Step(t.Context()); err == nil || tail.Position() != 0 {
		t.Fatalf("tail moved to %d, error %v, although nothing could be expanded", tail.Position(), err)
	}
	failing = nil
	step(t, tail)
	if got := read(); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("got %v after the store came back, want 1, 2", got)
	}
}

func TestNothingIsExpandedForNobody(t *testing.T) {
	o := newMemoryOutbox()
	tail := started(t, o, inline{fail: func(Row) error { return errStore }})
	o.commit(note(ToUser(id.NewUser()), 1))
	step(t, tail)
	if tail.Position() != 1 {
		t.Errorf("tail at %d, want 1", tail.Position())
	}
}

func TestAWakeDeliversAtOnceAndALostOneWithinAPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newMemoryOutbox()
		me := id.NewUser()
		tail := newTestTail(o, inline{})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- tail.Run(ctx) }()
		s, read := follow(t, tail, me, 0)
		synctest.Wait()
		read()
		start := time.Now()
		o.commit(note(ToUser(me), 1))
		tail.Wake()
		synctest.Wait()
		if got := read(); !slices.Equal(got, []int{1}) || time.Since(start) != 0 {
			t.Errorf("a wake brought %v after %v", got, time.Since(start))
		}
		o.commit(note(ToUser(me), 2))
		<-s.Ready()
		if waited := time.Since(start); waited > pollEvery {
			t.Errorf("a lost wake cost %v, want at most %v", waited, pollEvery)
		}
		stop()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
}

func TestTheTailWaitsForAStoreThatIsAwayAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newMemoryOutbox()
		o.fail = errStore
		tail := newTestTail(o, inline{})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- tail.Run(ctx) }()
		time.Sleep(3 * pollEvery)
		select {
		case <-tail.Ready():
			t.Fatal("ready without having seen the store")
		default:
		}
		o.mu.Lock()
		o.fail = nil
		o.mu.Unlock()
		<-tail.Ready()
		stop()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
}

func TestEphemeralsReachTheOthersAndAreNeverReplayed(t *testing.T) {
	o := newMemoryOutbox()
	me, other, stranger, s := id.NewUser(), id.NewUser(), id.NewUser(), id.NewSession()
	o.commit(joined(s, me), joined(s, other))
	tail := started(t, o, inline{})
	_, readMine := follow(t, tail, me, 2)
	_, readOther := follow(t, tail, other, 2)
	_, readStranger := follow(t, tail, stranger, 2)
	readMine()
	readOther()
	readStranger()
	tail.Ephemeral(s, Body{"typing", []byte(`{"n":9}`)}, me)
	if got := readOther(); !slices.Equal(got, []int{9}) {
		t.Errorf("the other got %v", got)
	}
	if mine, strange := readMine(), readStranger(); len(mine)+len(strange) != 0 {
		t.Errorf("the sender got %v, a stranger %v", mine, strange)
	}
	_, again := follow(t, tail, other, 0)
	if got := again(); slices.Contains(got, 9) {
		t.Errorf("an ephemeral was replayed: %v", got)
	}
}
