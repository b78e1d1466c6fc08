package localapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/edge-server/internal/eventsocket"
	"github.com/switchyard-dev/switchyard/edge-server/internal/localapi"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"pgregory.net/rapid"
)

// errEnough is how a follower leaves.
var errEnough = errors.New("enough")

// follow gives up after 20 s, and returns nil then.
func (r *rig) follow(from wire.ProducerSeq, each func([]byte) error) error {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	return localapi.Follow(ctx, r.addr, token, from, each)
}

// take follows from a number on until it has n messages.
func (r *rig) take(from wire.ProducerSeq, n int) (messages []string) {
	r.t.Helper()
	err := r.follow(from, func(m []byte) error {
		if messages = append(messages, string(m)); len(messages) == n {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		r.t.Fatalf("after %d messages: %v", len(messages), err)
	}
	return messages
}

func TestFollowerGetsTheRowsAsStoredAndThenThoseToCome(t *testing.T) {
	r := newRig(t)
	name := r.admit()
	r.say(name, 300) // more than a page
	var messages []string
	err := r.follow(1, func(m []byte) error {
		messages = append(messages, string(m))
		switch len(messages) {
		case 300:
			r.say(name, 5)
		case 305:
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) || !slices.Equal(messages, r.rows(1)) {
		t.Errorf("got %d messages, other than the rows: %v", len(messages), err)
	}
}

func TestCursorIsTheNextEventExpected(t *testing.T) {
	r := newRig(t)
	r.say(r.admit(), 4)
	if got := r.take(3, 2); !slices.Equal(got, r.rows(3)) {
		t.Errorf("from 3 on came %v", got)
	}
	for _, query := range []string{"?cursor=0", "?cursor=1", "?pageCursor=1"} {
		c := r.dial(query, bearer)
		if _, m, err := c.Read(t.Context()); err != nil || string(m) != r.rows(1)[0] {
			t.Errorf("%s: first came %s, %v", query, m, err)
		}
		c.CloseNow()
	}
}

func TestWithoutACursorOnlyWhatComesIsSent(t *testing.T) {
	r := newRig(t)
	name := r.admit()
	r.say(name, 2)
	c := r.dial("", bearer)
	defer c.CloseNow()
	r.say(name, 1)
	if _, m, err := c.Read(t.Context()); err != nil || string(m) != r.rows(3)[0] {
		t.Errorf("first came %s, %v", m, err)
	}
}

// A follower that is cut off anywhere and comes back with the next number has in the end exactly the rows, each once.
func TestFollowerWithRandomCutsSeesExactlyTheRows(t *testing.T) {
	r := newRig(t)
	name := r.admit()
	rapid.Check(t, func(c *rapid.T) {
		next := r.journal.State().Head + 1
		c.Repeat(map[string]func(*rapid.T){
			"say": func(c *rapid.T) { r.say(name, rapid.IntRange(1, 4).Draw(c, "events")) },
			"follow": func(c *rapid.T) {
				stored := r.rows(next)
				if len(stored) == 0 {
					return
				}
				n := rapid.IntRange(1, len(stored)).Draw(c, "until")
				if got := r.take(next, n); !slices.Equal(got, stored[:n]) {
					c.Fatalf("from %d on came %v of the rows %v", next, got, stored)
				}
				next += wire.ProducerSeq(n)
			},
		})
	})
}

func TestTrimmedRowsAreNamedInAGapAndTheRestFollows(t *testing.T) {
	r := newRig(t)
	old := r.admit()
	r.say(old, 3)
	r.end(old)
	r.trimTo(4)
	r.say(r.admit(), 2)
	for cursor, want := range map[wire.ProducerSeq]string{
		1: `{"firstDroppedSeq":1,"lastDroppedSeq":4,"droppedCount":4}`,
		4: `{"firstDroppedSeq":4,"lastDroppedSeq":4,"droppedCount":1}`,
	} {
		got := r.take(cursor, 3)
		var e event.Envelope
		if err := json.Unmarshal([]byte(got[0]), &e); err != nil {
			t.Fatal(err)
		}
		if e.Type != "system.gap" || e.Seq != 0 || e.Version != event.Version || e.ID == "" || e.Scope.EdgeID != edgeID || string(e.Payload) != want {
			t.Errorf("from %d on: %s", cursor, got[0])
		}
		if !slices.Equal(got[1:], r.rows(5)) {
			t.Errorf("behind the gap came %v", got[1:])
		}
	}
}

// A gap is said also when nothing is left behind it.
func TestGapIsSaidWhenAllRowsAreTrimmed(t *testing.T) {
	r := newRig(t)
	old := r.admit()
	r.end(old)
	r.trimTo(1)
	if got := r.take(1, 1); !strings.Contains(got[0], `"firstDroppedSeq":1,"lastDroppedSeq":1`) {
		t.Errorf("got %s", got)
	}
}

// A program that takes nothing for a while misses nothing: it is fed from disk when it goes on. Nobody else waits for it.
func TestSlowFollowerMissesNothingAndHoldsUpNobody(t *testing.T) {
	r := newRig(t)
	name := r.admit()
	slow := r.dial("?cursor=1", bearer) // does not read yet
	defer slow.CloseNow()
	large := strings.Repeat("x", 100_000)
	const n = 100 // 10 MB, more than sockets buffer
	for range n {
		r.commit(name, run.Candidate{Type: event.SessionState, Payload: event.SessionStatePayload{State: large}})
	}
	stored := r.rows(1)
	if got := r.take(1, n); !slices.Equal(got, stored) {
		t.Error("the other follower was not served")
	}
	slow.SetReadLimit(1 << 20)
	for i := range n {
		if _, m, err := slow.Read(t.Context()); err != nil || string(m) != stored[i] {
			t.Fatalf("message %d of the slow one differs, %v", i, err)
		}
	}
}

func TestFollowersAreSentAwayWhenTheEdgeStops(t *testing.T) {
	r := newRig(t)
	r.say(r.admit(), 1)
	err := r.follow(1, func([]byte) error {
		go r.stop() // the follower reads on meanwhile
		return nil
	})
	var end *eventsocket.End
	if !errors.As(err, &end) || end.Code != eventsocket.Restart {
		t.Errorf("got %v", err)
	}
	r.stop()
}

func TestNewNumberingSendsFollowersAway(t *testing.T) {
	r := newRig(t)
	r.say(r.admit(), 2)
	before := r.journal.State().Incarnation
	err := r.follow(2, func([]byte) error { return r.journal.Renumber(context.Background()) })
	var end *eventsocket.End
	if !errors.As(err, &end) || end.Code != eventsocket.Reset {
		t.Errorf("got %v", err)
	}
	var p struct{ Code fault.Code }
	if status := r.get("/v1/events?cursor=1&incarnation="+string(before), &p); status != http.StatusConflict || p.Code != fault.CursorReset {
		t.Errorf("with the old numbering: %d %+v", status, p)
	}
}

func TestOnlySoManyProgramsFollow(t *testing.T) {
	r := newRig(t)
	const limit = 32
	var conns []*websocket.Conn
	for range limit {
		conns = append(conns, r.dial("", bearer))
	}
	err := r.follow(0, nil)
	if fault.CodeOf(err) != fault.Busy {
		t.Errorf("one more: %v", err)
	}
	conns[0].CloseNow()
	r.say(r.admit(), 1)
	eventually(t, "a place is free", func() bool {
		err := r.follow(1, func([]byte) error { return errEnough })
		return errors.Is(err, errEnough)
	})
	for _, c := range conns {
		c.CloseNow()
	}
}
