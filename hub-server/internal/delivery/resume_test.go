package delivery

import (
	"log/slog"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"pgregory.net/rapid"
)

func TestPlanSaysWhyItResets(t *testing.T) {
	b := Bounds{Epoch: testEpoch, Floor: 10, Head: 50}
	for name, c := range map[string]struct {
		cursor string
		device *Mark
		want   Plan
	}{
		"nothing known":              {want: Plan{Outcome: Fresh, From: 50}},
		"cursor":                     {cursor: string(NewCursor(testEpoch, 20)), want: Plan{Outcome: Replayed, From: 20}},
		"cursor at the head":         {cursor: string(NewCursor(testEpoch, 50)), want: Plan{Outcome: Replayed, From: 50}},
		"cursor at the floor":        {cursor: string(NewCursor(testEpoch, 10)), want: Plan{Outcome: Replayed, From: 10}},
		"cursor below the floor":     {cursor: string(NewCursor(testEpoch, 9)), want: reset(Trimmed, b)},
		"cursor ahead":               {cursor: string(NewCursor(testEpoch, 51)), want: reset(CursorAhead, b)},
		"cursor of another epoch":    {cursor: string(NewCursor("feed", 20)), want: reset(OtherEpoch, b)},
		"garbage":                    {cursor: "garbage", want: reset(CursorInvalid, b)},
		"device":                     {device: &Mark{testEpoch, 30}, want: Plan{Outcome: Replayed, From: 30}},
		"device of another epoch":    {device: &Mark{"feed", 30}, want: reset(OtherEpoch, b)},
		"device that was away long":  {device: &Mark{testEpoch, 3}, want: reset(Trimmed, b)},
		"cursor counts, not device":  {cursor: string(NewCursor(testEpoch, 20)), device: &Mark{testEpoch, 40}, want: Plan{Outcome: Replayed, From: 20}},
		"garbage is not made good":   {cursor: "garbage", device: &Mark{testEpoch, 40}, want: reset(CursorInvalid, b)},
		"device ahead (lost writes)": {device: &Mark{testEpoch, 51}, want: reset(CursorAhead, b)},
	} {
		if got := plan(c.cursor, c.device, b); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestEveryResetHasASentence(t *testing.T) {
	for _, r := range []Reason{CursorInvalid, OtherEpoch, CursorAhead, Trimmed, TooFarBehind} {
		if len(r.Sentence()) < 20 {
			t.Errorf("%s is explained by %q", r, r.Sentence())
		}
	}
	if NoReason.Sentence() != "" {
		t.Error("no reason has a sentence")
	}
}

func TestALongReplayBecomesAReset(t *testing.T) {
	b := Bounds{Epoch: testEpoch, Head: 50}
	p := Plan{Outcome: Replayed, From: 1}
	for _, missed := range []Backlog{{Rows: maxReplayRows}, {Rows: 1, Bytes: maxReplayBytes}} {
		if got := p.within(missed, b); got != p {
			t.Errorf("%+v behind: got %+v, want a replay", missed, got)
		}
	}
	for _, missed := range []Backlog{{Rows: maxReplayRows + 1}, {Rows: 1, Bytes: maxReplayBytes + 1}} {
		if got := p.within(missed, b); got != reset(TooFarBehind, b) {
			t.Errorf("%+v behind: got %+v, want a reset", missed, got)
		}
	}
}

// Whatever a client shows, it begins inside the outbox: after everything it claims to have, or at the head and told so.
func TestPlanNeverSkipsSilently(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		floor := Position(rapid.Uint64Range(0, 20).Draw(t, "floor"))
		b := Bounds{Epoch: testEpoch, Floor: floor, Head: floor + Position(rapid.Uint64Range(0, 20).Draw(t, "length"))}
		claimed := Position(rapid.Uint64Range(0, 50).Draw(t, "claimed"))
		epoch := rapid.SampledFrom([]wire.Epoch{testEpoch, "feed"}).Draw(t, "epoch")
		got := plan(string(NewCursor(epoch, claimed)), nil, b)
		switch got.Outcome {
		case Replayed:
			if epoch != b.Epoch || got.From != claimed || got.From < b.Floor || got.From > b.Head {
				t.Errorf("replay from %d of what reaches from %d to %d, claimed %d in epoch %s", got.From, b.Floor, b.Head, claimed, epoch)
			}
		case Reset:
			if got.Reason == NoReason || got.From != b.Head {
				t.Errorf("reset without a reason, or not to the head: %+v", got)
			}
		default:
			t.Errorf("a client with a cursor got %s", got.Outcome)
		}
	})
}

// Every client gets exactly what follows its position, or is told why not; and nobody is told so without need.
func TestAResumeIsTheRestOrAResetForAReason(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		floor := Position(rapid.Uint64Range(0, 20).Draw(t, "floor"))
		b := Bounds{Epoch: testEpoch, Floor: floor, Head: floor + Position(rapid.Uint64Range(0, 20).Draw(t, "length"))}
		shown := Mark{
			Epoch:    rapid.SampledFrom([]wire.Epoch{testEpoch, testEpoch, testEpoch, "feed"}).Draw(t, "epoch"),
			Position: Position(rapid.Uint64Range(0, 45).Draw(t, "claimed")),
		}
		missed := Backlog{
			Rows:  rapid.SampledFrom([]int{0, 1, maxReplayRows, maxReplayRows + 1}).Draw(t, "rows"),
			Bytes: rapid.SampledFrom([]int64{0, maxReplayBytes, maxReplayBytes + 1}).Draw(t, "bytes"),
		}
		cursor, device := string(NewCursor(shown.Epoch, shown.Position)), (*Mark)(nil)
		if rapid.Bool().Draw(t, "by device") {
			cursor, device = "", &shown
		}
		got := plan(cursor, device, b).within(missed, b)
		want := Plan{Outcome: Reset, From: b.Head}
		switch {
		case shown.Epoch != b.Epoch:
			want.Reason = OtherEpoch
		case shown.Position > b.Head:
			want.Reason = CursorAhead
		case shown.Position < b.Floor:
			want.Reason = Trimmed
		case missed.Rows > maxReplayRows || missed.Bytes > maxReplayBytes:
			want.Reason = TooFarBehind
		default:
			want = Plan{Outcome: Replayed, From: shown.Position}
		}
		if got != want {
			t.Fatalf("%+v of %+v, %+v behind: got %+v, want %+v", shown, b, missed, got, want)
		}
	})
}

func TestPlannerLooksAtTheBacklogOfThisUser(t *testing.T) {
	o := newMemoryOutbox()
	me, other := id.NewUser(), id.NewUser()
	for i := range maxReplayRows + 1 {
		o.commit(note(ToUser(other), i))
	}
	p := Planner{Outbox: o, Marks: NewMarks(slog.New(slog.DiscardHandler), newMemoryMarks(), func() wire.Epoch { return testEpoch })}
	cursor := string(NewCursor(testEpoch, 0))
	mine, err := p.Plan(t.Context(), me, id.NewDevice(), cursor)
	if err != nil || mine.Outcome != Replayed || mine.Cursor != Cursor(cursor) {
		t.Errorf("who missed nothing got %+v, error %v", mine, err)
	}
	theirs, err := p.Plan(t.Context(), other, id.NewDevice(), cursor)
	if err != nil || theirs.Reason != TooFarBehind || theirs.Cursor != NewCursor(testEpoch, maxReplayRows+1) {
		t.Errorf("who missed too much got %+v, error %v", theirs, err)
	}
}
