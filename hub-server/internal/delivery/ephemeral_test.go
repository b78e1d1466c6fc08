package delivery

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestAnEphemeralForSomePeopleReachesThoseAndSaysWhoHadNoRoom(t *testing.T) {
	o := newMemoryOutbox()
	me, other, away := id.NewUser(), id.NewUser(), id.NewUser()
	tail := started(t, o, inline{})
	_, read := follow(t, tail, me, 0)
	_, readOther := follow(t, tail, other, 0)
	read()
	readOther()
	body := func(n string) Body { return Body{"device.online", []byte(`{"n":` + n + `}`)} }
	if without := tail.EphemeralTo([]id.User{me, away}, body("7")); len(without) != 0 {
		t.Errorf("%v go without", without)
	}
	if got := read(); !slices.Equal(got, []int{7}) {
		t.Errorf("got %v, want 7", got)
	}
	if got := readOther(); len(got) != 0 {
		t.Errorf("whoever it is not for got %v", got)
	}
	for range queueBytes {
		if without := tail.EphemeralTo([]id.User{me, other}, body("8")); len(without) > 0 {
			if !slices.Equal(without, []id.User{me, other}) {
				t.Errorf("%v go without, want both", without)
			}
			return
		}
	}
	t.Error("a queue that nobody reads has room for ever")
}
