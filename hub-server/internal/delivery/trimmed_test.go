package delivery

import (
	"errors"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// The process was stopped for longer than rows are kept.
func TestATailThatTheFloorHasOvertakenEndsAndSkipsNothing(t *testing.T) {
	o, me := newMemoryOutbox(), id.NewUser()
	tail := started(t, o, inline{})
	o.commit(note(ToUser(me), 1), note(ToUser(me), 2), note(ToUser(me), 3))
	o.floor = 2
	if _, err := tail.Step(t.Context()); !errors.Is(err, ErrTrimmed) || tail.Position() != 0 {
		t.Errorf("tail at %d, %v; want ErrTrimmed at 0", tail.Position(), err)
	}
}

func TestAStreamThatTheFloorHasOvertakenEndsAndSkipsNothing(t *testing.T) {
	o, me := newMemoryOutbox(), id.NewUser()
	o.commit(note(ToUser(me), 1), note(ToUser(me), 2), note(ToUser(me), 3))
	tail := started(t, o, inline{})
	s, err := tail.Open(t.Context(), me, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	o.floor = 2
	if frames, err := s.Next(t.Context()); !errors.Is(err, ErrTrimmed) || len(frames) > 0 || s.Position() != 1 {
		t.Errorf("%d frames up to %d, %v; want ErrTrimmed", len(frames), s.Position(), err)
	}
}
