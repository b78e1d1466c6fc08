package delivery

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// fat is a note with many bytes.
func fat(to Audience, n, size int) Row {
	r := note(to, n)
	r.Payload = bytes.Replace(r.Payload, []byte("}"), []byte(`,"fill":"`+string(bytes.Repeat([]byte{'x'}, size))+`"}`), 1)
	return r
}

func TestAFullQueueIsFreedAndItsRowsComeFromTheStore(t *testing.T) {
	o := newMemoryOutbox()
	me, other := id.NewUser(), id.NewUser()
	tail := started(t, o, inline{})
	slow, readSlow := follow(t, tail, me, 0)
	_, readQuick := follow(t, tail, other, 0)
	readSlow()
	readQuick()
	var want []int
	for n := 1; n <= 40; n++ {
		o.commit(fat(ToUser(me), n, 32<<10), note(ToUser(other), n))
		step(t, tail)
		if got := readQuick(); !slices.Equal(got, []int{n}) {
			t.Fatalf("a slow neighbour cost the quick one: got %v, want %d", got, n)
		}
		if slow.queued > queueBytes {
			t.Fatalf("queue holds %d bytes, limit is %d", slow.queued, queueBytes)
		}
		want = append(want, n)
	}
	if slow.attached || slow.queue != nil {
		t.Error("a stream that reads nothing is still attached and holds its queue")
	}
	if got := readSlow(); !slices.Equal(got, want) {
		t.Errorf("got %v, want 1 to 40 once each", got)
	}
	o.commit(note(ToUser(me), 41))
	step(t, tail)
	if got := readSlow(); !slices.Equal(got, []int{41}) || !slow.attached {
		t.Errorf("after catching up: got %v, attached %v", got, slow.attached)
	}
}

func TestARowLargerThanAQueueStillArrives(t *testing.T) {
	o := newMemoryOutbox()
	me := id.NewUser()
	tail := started(t, o, inline{})
	_, read := follow(t, tail, me, 0)
	read()
	o.commit(note(ToUser(me), 1), fat(ToUser(me), 2, 2*queueBytes), note(ToUser(me), 3))
	step(t, tail)
	if got := read(); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("got %v, want 1, 2, 3", got)
	}
}

func TestAPageIsBoundedInRowsAndBytes(t *testing.T) {
	o := newMemoryOutbox()
	me := id.NewUser()
	for n := range 3 * pageRows {
		o.commit(note(ToUser(me), n))
	}
	for n := range 20 {
		o.commit(fat(ToUser(me), n, pageBytes/4))
	}
	tail := started(t, o, inline{})
	s, err := tail.Open(t.Context(), me, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	total := 0
	for !s.attached {
		frames, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(frames) > pageRows || sizeOf(frames) > pageBytes+pageBytes/4+1024 {
			t.Errorf("a page of %d frames, %d bytes", len(frames), sizeOf(frames))
		}
		total += len(frames)
	}
	if want := 3*pageRows + 20; total != want {
		t.Errorf("got %d frames, want %d", total, want)
	}
}

func TestAnEmptyStretchIsCrossedInFewPages(t *testing.T) {
	o := newMemoryOutbox()
	me, other := id.NewUser(), id.NewUser()
	for range 20 * firstWindow {
		o.commit(note(ToUser(other), 0))
	}
	o.commit(note(ToUser(me), 1))
	pages := &countingOutbox{memoryOutbox: o}
	tail := newTestTail(pages, inline{})
	if _, err := tail.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, read := follow(t, tail, me, 0)
	if got := read(); !slices.Equal(got, []int{1}) || pages.asked > 8 {
		t.Errorf("got %v in %d pages", got, pages.asked)
	}
}

type countingOutbox struct {
	*memoryOutbox
	asked int
}

func (c *countingOutbox) RowsFor(ctx context.Context, u id.User, after, upTo Position, limit int) ([]Row, error) {
	c.asked++
	return c.memoryOutbox.RowsFor(ctx, u, after, upTo, limit)
}

func TestAnIdleStreamsPositionMovesWithTheTail(t *testing.T) {
	o := newMemoryOutbox()
	me := id.NewUser()
	tail := started(t, o, inline{})
	s, read := follow(t, tail, me, 0)
	read()
	o.commit(note(ToUser(id.NewUser()), 1), note(ToUser(id.NewUser()), 2))
	step(t, tail)
	if s.Position() != 2 {
		t.Errorf("position %d, want 2: nothing before it is for this client", s.Position())
	}
	o.commit(note(ToUser(me), 3))
	step(t, tail)
	if s.Position() != 2 {
		t.Errorf("position %d, want 2: row 3 has not been taken", s.Position())
	}
}

// A client comes from another hub that was ahead of this one.
func TestAStreamAheadOfTheTailGetsNothingTwice(t *testing.T) {
	o := newMemoryOutbox()
	me := id.NewUser()
	tail := started(t, o, inline{})
	o.commit(note(ToUser(me), 1), note(ToUser(me), 2))
	s, read := follow(t, tail, me, 2)
	read()
	o.commit(note(ToUser(me), 3))
	step(t, tail)
	if got := read(); !slices.Equal(got, []int{3}) || s.Position() != 3 {
		t.Errorf("got %v up to %d, want note 3 alone", got, s.Position())
	}
}

func TestChangesDuringTheLoadOfMembershipsCount(t *testing.T) {
	o := newMemoryOutbox()
	me, stays, leaves, joins := id.NewUser(), id.NewSession(), id.NewSession(), id.NewSession()
	o.commit(joined(stays, me), joined(leaves, me))
	slow := &pausedOutbox{memoryOutbox: o, asked: make(chan struct{}), resume: make(chan struct{})}
	tail := newTestTail(slow, inline{})
	if _, err := tail.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	opened := make(chan *Stream)
	go func() {
		s, err := tail.Open(t.Context(), me, 2)
		if err != nil {
			t.Error(err)
		}
		opened <- s
	}()
	<-slow.asked
	o.commit(left(leaves, me), joined(joins, me))
	step(t, tail)
	close(slow.resume)
	s := <-opened
	defer s.Close()
	for session, want := range map[id.Session]bool{stays: true, leaves: false, joins: true} {
		if tail.InSession(me, session) != want {
			t.Errorf("membership %v, want %v", !want, want)
		}
	}
}

// pausedOutbox answers SessionsOf with what held when it was asked, later.
type pausedOutbox struct {
	*memoryOutbox
	asked, resume chan struct{}
}

func (p *pausedOutbox) SessionsOf(ctx context.Context, u id.User, at Position) ([]id.Session, error) {
	sessions, err := p.memoryOutbox.SessionsOf(ctx, u, at)
	close(p.asked)
	<-p.resume
	return sessions, err
}

func TestAFailedLoadLeavesNothingBehind(t *testing.T) {
	o := newMemoryOutbox()
	me, s := id.NewUser(), id.NewSession()
	o.commit(joined(s, me))
	tail := started(t, o, inline{})
	o.fail = errStore
	if _, err := tail.Open(t.Context(), me, 0); !errors.Is(err, errStore) {
		t.Fatalf("got error %v", err)
	}
	o.fail = nil
	_, read := follow(t, tail, me, 0)
	if got := read(); len(got) != 1 || !tail.InSession(me, s) {
		t.Errorf("the next try got %v, member %v", got, tail.InSession(me, s))
	}
}

func TestClosedStreamsAreForgotten(t *testing.T) {
	o := newMemoryOutbox()
	me, s := id.NewUser(), id.NewSession()
	o.commit(joined(s, me))
	tail := started(t, o, inline{})
	for range 3 {
		stream, err := tail.Open(t.Context(), me, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			stream.Close()
			if open := tail.roster.members[me]; open == nil && len(tail.roster.sessions) != 0 {
				t.Error("the last stream is gone, its conversations are not")
			}
		}()
	}
}

// goneOutbox holds the first load of a user until its client has gone.
type goneOutbox struct {
	*memoryOutbox
	loading chan struct{}
	loads   atomic.Int32
}

func (o *goneOutbox) SessionsOf(ctx context.Context, user id.User, at Position) ([]id.Session, error) {
	if o.loads.Add(1) == 1 {
		close(o.loading)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return o.memoryOutbox.SessionsOf(ctx, user, at)
}

// One load serves all streams of a user that open together; that its client goes away is no matter of the others.
func TestAStreamOpensThoughTheOneThatLoadsForItGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &goneOutbox{memoryOutbox: newMemoryOutbox(), loading: make(chan struct{})}
		tail := newTestTail(o, inline{})
		if _, err := tail.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		user := id.NewUser()
		ctx, leave := context.WithCancel(t.Context())
		opened := make(chan error, 2)
		go func() {
			_, err := tail.Open(ctx, user, 0)
			opened <- err
		}()
		<-o.loading
		go func() {
			s, err := tail.Open(t.Context(), user, 0)
			if err == nil {
				defer s.Close()
			}
			opened <- err
		}()
		synctest.Wait()
		leave()
		first, second := <-opened, <-opened
		if errors.Is(second, context.Canceled) {
			first, second = second, first
		}
		if !errors.Is(first, context.Canceled) || second != nil {
			t.Errorf("the one that left: %v; the other: %v", first, second)
		}
	})
}
