package canonical

import (
	"errors"
	"math"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"0", "41", epoch + ".41", "-1", ".1", "1.", "a.b.1", "01", "99999999999999999999", "", " 1", "+1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCursor(s)
		switch fault.CodeOf(err) {
		case fault.CursorInvalid, fault.CursorNegative:
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		again, err := ParseCursor(c.String())
		if err != nil || again != c {
			t.Errorf("%q is %+v, and its text is %+v, %v", s, c, again, err)
		}
	})
}

func TestR2WhereReadingBegins(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		name          string
		query, header *string
		want          Begin
		code          fault.Code
	}{
		{name: "nothing said"},
		{name: "query", query: text("3"), want: Begin{After: 3}},
		{name: "header", header: text("3"), want: Begin{After: 3, Resumed: true}},
		{name: "larger header", query: text("3"), header: text("5"), want: Begin{After: 5, Resumed: true}},
		{name: "larger query", query: text("5"), header: text("3"), want: Begin{After: 5, Resumed: true}},
		{name: "beyond any log", query: text("99999999999999999999"), want: Begin{After: math.MaxInt64}},
		{name: "this epoch", query: text(epoch + ".3"), want: Begin{After: 3, Epochs: true}},
		{name: "other epoch in the query", query: text("feed.3"), code: fault.CursorReset},
		{name: "other epoch in the query beside a plain header", query: text("feed.3"), header: text("4"), code: fault.CursorReset},
		{name: "other epoch in the header", header: text("feed.3"), want: Begin{After: 3, Resumed: true, Reset: true, Epochs: true}},
		{name: "other epoch in both", query: text("feed.0"), header: text("feed.3"), want: Begin{After: 3, Resumed: true, Reset: true, Epochs: true}},
		{name: "told since", query: text("feed.9"), header: text(epoch + ".3"), want: Begin{After: 3, Resumed: true, Epochs: true}},
		{name: "negative", query: text("-1"), code: fault.CursorNegative},
		{name: "negative in an epoch", header: text(epoch + ".-1"), code: fault.CursorNegative},
		{name: "no number", query: text("now"), code: fault.CursorInvalid},
		{name: "no number in the header", query: text("1"), header: text("now"), code: fault.CursorInvalid},
	} {
		got, err := Plan(Ask{Query: c.query, Header: c.header}, epoch)
		if c.code == "" && err != nil || c.code != "" && fault.CodeOf(err) != c.code || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v, %q", c.name, got, err, c.want, c.code)
		}
		var stale *StaleCursor
		if errors.As(err, &stale) != (c.code == fault.CursorReset) || stale != nil && stale.Epoch != epoch {
			t.Errorf("%s: %v does not name the current epoch", c.name, err)
		}
	}
}

func TestIDsOfFramesAreCursors(t *testing.T) {
	for _, c := range []Cursor{{Seq: 7}, {Epoch: epoch, Seq: runlog.EventSeq(math.MaxInt64)}} {
		if got, err := ParseCursor(c.String()); err != nil || got != c {
			t.Errorf("%s is read as %+v, %v", c, got, err)
		}
	}
}
