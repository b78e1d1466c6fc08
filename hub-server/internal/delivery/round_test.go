package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"pgregory.net/rapid"
)

func newRounds(tail *Tail) Rounds { return Rounds{Tail: tail, Followers: NewFollowers(2)} }

// syncAll asks until there is no more, by pages of so many rows, and returns what came and where it ended.
func syncAll(t testing.TB, r Rounds, user id.User, cursor Cursor, limit int) (got []int, to Cursor) {
	t.Helper()
	for {
		round, err := r.Next(t.Context(), user, string(cursor), limit)
		if err != nil || round.Outcome != Replayed {
			t.Fatalf("%+v, %v", round, err)
		}
		for _, f := range round.Frames {
			got = append(got, unnumbered(t, f))
		}
		cursor = round.To
		if !round.More {
			return got, cursor
		}
	}
}

func unnumbered(t testing.TB, f Frame) int {
	t.Helper()
	var frame struct {
		Seq     *uint64        `json:"seq_id"`
		Payload map[string]int `json:"payload"`
		Cursor  Cursor         `json:"cursor"`
	}
	if err := json.Unmarshal(f.AppendUnnumbered(nil), &frame); err != nil || frame.Seq != nil || frame.Cursor == "" {
		t.Fatalf("%s: %v", f.AppendUnnumbered(nil), err)
	}
	return frame.Payload["n"]
}

// Whatever happens to their memberships, who asks page by page hears what a stream from the same place hears.
func TestRoundsHaveWhatAStreamHas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o, users, sessions := newMemoryOutbox(), []id.User{"user_1", "user_2"}, []id.Session{"sess_1", "sess_2"}
		in := map[membership]bool{}
		for i := range rapid.IntRange(0, 60).Draw(rt, "rows") {
			s, u := rapid.SampledFrom(sessions).Draw(rt, "session"), rapid.SampledFrom(users).Draw(rt, "user")
			switch m := (membership{s, u}); rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0:
				o.commit(note(ToUser(u), i))
			case 1:
				if row := joined(s, u); in[m] {
					o.commit(left(s, u))
				} else {
					o.commit(row)
				}
				in[m] = !in[m]
			default:
				o.commit(note(ToSession(s), i))
			}
		}
		tail, user := newTestTail(o, inline{}), users[0]
		if _, err := tail.Start(t.Context()); err != nil {
			rt.Fatal(err)
		}
		from := Position(rapid.IntRange(0, len(o.rows)).Draw(rt, "from"))
		var want []int
		rows, err := o.RowsFor(t.Context(), user, from, Position(len(o.rows)), len(o.rows))
		if err != nil {
			rt.Fatal(err)
		}
		for _, row := range rows {
			var p map[string]int
			if err := json.Unmarshal(row.Payload, &p); err != nil {
				rt.Fatal(err)
			}
			want = append(want, p["n"])
		}
		got, to := syncAll(t, newRounds(tail), user, NewCursor(testEpoch, from), rapid.IntRange(1, 7).Draw(rt, "limit"))
		if !slices.Equal(got, want) || to != NewCursor(testEpoch, Position(len(o.rows))) {
			rt.Fatalf("from %d: %v up to %s, want %v", from, got, to, want)
		}
	})
}

func TestARoundThatCannotBeContinuedSaysSo(t *testing.T) {
	o, me := newMemoryOutbox(), id.NewUser()
	o.commit(note(ToUser(me), 1), note(ToUser(me), 2), note(ToUser(me), 3))
	o.floor = 1
	r := newRounds(started(t, o, inline{}))
	for cursor, want := range map[Cursor]Plan{
		"":                      {Outcome: Fresh},
		"garbage":               {Outcome: Reset, Reason: CursorInvalid},
		NewCursor("feed", 2):    {Outcome: Reset, Reason: OtherEpoch},
		NewCursor(testEpoch, 4): {Outcome: Reset, Reason: CursorAhead},
		NewCursor(testEpoch, 0): {Outcome: Reset, Reason: Trimmed},
	} {
		want.From, want.Cursor = 3, NewCursor(testEpoch, 3)
		round, err := r.Next(t.Context(), me, string(cursor), 10)
		if err != nil || round.Plan != want || len(round.Frames) > 0 || round.More || round.To != want.Cursor {
			t.Errorf("%q: %+v, %v", cursor, round, err)
		}
	}
}

// The rows go between the look at the bounds and the read.
func TestARoundThatTheFloorOvertakesIsAReset(t *testing.T) {
	o, me := newMemoryOutbox(), id.NewUser()
	o.commit(note(ToUser(me), 1), note(ToUser(me), 2))
	tail := newTestTail(trimming{o}, inline{})
	if _, err := tail.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := newRounds(tail)
	round, err := r.Next(t.Context(), me, string(NewCursor(testEpoch, 0)), 10)
	if err != nil || round.Outcome != Reset || round.Reason != Trimmed || len(round.Frames) > 0 {
		t.Errorf("%+v, %v", round, err)
	}
}

type trimming struct{ *memoryOutbox }

func (o trimming) RowsFor(ctx context.Context, user id.User, after, upTo Position, limit int) ([]Row, error) {
	o.floor = 1
	return o.memoryOutbox.RowsFor(ctx, user, after, upTo, limit)
}

// More than anybody could be sent over a socket comes in bounded pages, to the last row.
func TestAWeekComesInBoundedPages(t *testing.T) {
	const rows = 2 * maxReplayRows
	o, me := newMemoryOutbox(), id.NewUser()
	for i := range rows {
		row := note(ToUser(me), i)
		row.Payload = fmt.Appendf(nil, `{"n":%d,"text":%q}`, i, make([]byte, 1000))
		o.commit(row)
	}
	r, at, seen := newRounds(started(t, o, inline{})), NewCursor(testEpoch, 0), 0
	for more := true; more; {
		round, err := r.Next(t.Context(), me, string(at), 500)
		if err != nil || len(round.Frames) == 0 || sizeOf(round.Frames) > pageBytes+8<<10 {
			t.Fatalf("%d frames of %d bytes, %v", len(round.Frames), sizeOf(round.Frames), err)
		}
		at, more, seen = round.To, round.More, seen+len(round.Frames)
	}
	if seen != rows {
		t.Errorf("%d of %d rows came", seen, rows)
	}
}

func TestWhoeverWaitsHearsWhatComesAndNothingThatIsInNoRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, me, other, s := newMemoryOutbox(), id.NewUser(), id.NewUser(), id.NewSession()
		o.commit(joined(s, me))
		tail := started(t, o, inline{})
		r := newRounds(tail)
		answer := await(t, r, account.Principal{User: me}, NewCursor(testEpoch, 1), nil)
		synctest.Wait()
		tail.Ephemeral(s, Body{"typing", []byte(`{"n":9}`)}, other)
		o.commit(note(ToUser(other), 1))
		step(t, tail)
		synctest.Wait()
		select {
		case got := <-answer:
			t.Fatalf("answered %+v although there was nothing", got)
		default:
		}
		o.commit(note(ToSession(s), 2))
		step(t, tail)
		if got := <-answer; got.err != nil || len(got.Frames) != 1 || unnumbered(t, got.Frames[0]) != 2 || got.To != NewCursor(testEpoch, 3) {
			t.Errorf("got %+v", got)
		}
	})
}

func TestWaitingEndsWithTheLoginTheHubAndTheTime(t *testing.T) {
	for name, end := range map[string]func(Rounds, account.Principal, chan struct{}){
		"login": func(r Rounds, who account.Principal, _ chan struct{}) { r.Followers.EndFamily(who.Family) },
		"hub":   func(r Rounds, _ account.Principal, _ chan struct{}) { r.Followers.Shut() },
		"time":  func(_ Rounds, _ account.Principal, enough chan struct{}) { close(enough) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, who, enough := newMemoryOutbox(), account.Principal{User: id.NewUser(), Family: "family"}, make(chan struct{})
				r := newRounds(started(t, o, inline{}))
				answer := await(t, r, who, NewCursor(testEpoch, 0), enough)
				time.Sleep(time.Minute)
				end(r, who, enough)
				if got := <-answer; got.err != nil || len(got.Frames) > 0 || got.To != NewCursor(testEpoch, 0) {
					t.Errorf("got %+v", got)
				}
			})
		})
	}
}

func TestNobodyWaitsTooOftenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, who, enough := newMemoryOutbox(), account.Principal{User: id.NewUser()}, make(chan struct{})
		r := newRounds(started(t, o, inline{}))
		first, second := await(t, r, who, NewCursor(testEpoch, 0), enough), await(t, r, who, NewCursor(testEpoch, 0), enough)
		synctest.Wait()
		if _, err := r.Await(t.Context(), who, string(NewCursor(testEpoch, 0)), 10, enough); fault.CodeOf(err) != fault.RateLimited {
			t.Errorf("the third got %v", err)
		}
		close(enough)
		<-first
		<-second
	})
}

type awaited struct {
	Round
	err error
}

func await(t *testing.T, r Rounds, who account.Principal, cursor Cursor, enough chan struct{}) <-chan awaited {
	t.Helper()
	done := make(chan awaited, 1)
	go func() {
		round, err := r.Await(t.Context(), who, string(cursor), 10, enough)
		done <- awaited{round, err}
	}()
	return done
}
