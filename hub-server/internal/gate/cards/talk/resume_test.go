package talk

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
)

func TestResumeSaysWhatFollowsOrWhyItCannot(t *testing.T) {
	for name, c := range map[string]struct {
		last  int64
		known map[string]int64
		want  string
	}{
		"behind":                 {last: 4, want: "resumed 5 to 9"},
		"from the beginning":     {last: 2, want: "resumed 3 to 9"},
		"at the head":            {last: 9, want: "resumed 10 to 9"},
		"beyond it":              {last: 10, want: "error invalid_input invalid_request"},
		"below what is kept":     {last: 1, want: "resume_failed events_expired"},
		"with nothing":           {last: 0, want: "resumed 3 to 9"},
		"a cursor at the head":   {last: 4, known: map[string]int64{"msg_1": 9}, want: "resumed 5 to 9"},
		"a cursor beyond":        {last: 4, known: map[string]int64{"msg_1": 10}, want: "error invalid_input invalid_request"},
		"a cursor of nothing":    {last: 4, known: map[string]int64{"nobody": 1}, want: "resumed 5 to 9"},
		"the largest of numbers": {last: 1<<63 - 1, want: "error invalid_input invalid_request"},
	} {
		at := opened(t, 9)
		at.Resumed(noon, Heard{}, card.SessionResume{TraceID: string(trace), LastSeq: c.last, MessageCursors: c.known}, 2, 9)
		same(t, name, saying(t, at), c.want)
		want := card.Seq(9)
		if c.want[:7] == "resumed" {
			want = card.Seq(max(c.last, 2))
		}
		if r := at.Next().Read; r.After != want {
			t.Errorf("%s: it goes on after %d, want %d", name, r.After, want)
		}
	}
}

// Whatever a client has, and however often it goes back while frames are on their way and new ones come, what it is told behind a resume follows on
// from what it has, each frame once, in the stored bytes.
func TestWhatIsToldBehindAResumeFollowsOnByteForByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var log []cards.Frame
		grow := func(n int) {
			for range n {
				log = append(log, frame(card.Seq(len(log)+1)))
			}
		}
		grow(rapid.IntRange(0, 20).Draw(t, "before"))
		c := New("", card.English)
		c.Entered(noon, entry(card.Seq(len(log))))
		c.Next()
		has := len(log) // of the log, in the client's hands
		var flying *Range
		read := func() {
			if flying == nil {
				return
			}
			page := log[flying.After:]
			page = page[:min(len(page), rapid.IntRange(0, 5).Draw(t, "page"))]
			for _, bytes := range c.Took(*flying, page) {
				if want := log[has].Bytes; string(bytes) != string(want) {
					t.Fatalf("told %q, want %q", bytes, want)
				}
				has++
			}
			flying = nil
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				grow(rapid.IntRange(1, 4).Draw(t, "more"))
			case 1:
				if step := c.Next(); step.Read != nil && flying == nil {
					flying = step.Read
				}
			case 2:
				read()
			case 3: // the connection may be lost and another one made, or not
				last := rapid.IntRange(0, len(log)).Draw(t, "last")
				c.Resumed(noon, Heard{}, card.SessionResume{TraceID: string(trace), LastSeq: int64(last)}, 0, card.Seq(len(log)))
				has = last
			}
		}
		for has < len(log) {
			if flying == nil {
				for flying == nil {
					flying = c.Next().Read
				}
			}
			page := log[flying.After:]
			for _, bytes := range c.Took(*flying, page) {
				if string(bytes) != string(log[has].Bytes) {
					t.Fatalf("told %q, want %q", bytes, log[has].Bytes)
				}
				has++
			}
			flying = nil
		}
	})
}

func TestCursorsLeaveOutAppendsThatTheClientHasAndNothingElse(t *testing.T) {
	event := func(seq card.Seq, typ card.Type, id string) cards.Frame {
		return cards.Frame{Seq: seq, Bytes: fmt.Appendf(nil, `{"type":%q,"envelope":{"card_id":%q,"seq":%d}}`, typ, id, seq)}
	}
	log := []cards.Frame{
		event(1, card.Add, "a"), event(2, card.Append, "a"), event(3, card.Append, "b"), event(4, card.Append, "a"), event(5, card.Append, "a"),
		event(6, card.Close, "a"), event(7, card.Append, "a"),
	}
	c := opened(t, 6)
	c.Resumed(noon, Heard{}, card.SessionResume{TraceID: string(trace), LastSeq: 0, MessageCursors: map[string]int64{"a": 4}}, 0, 6)
	same(t, "answer", saying(t, c), "resumed 1 to 6")
	var got []card.Seq
	for _, raw := range c.Took(*c.Next().Read, log) {
		e, err := card.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Envelope.Seq)
	}
	if want := []card.Seq{1, 3, 5, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
	if c.place.known != nil {
		t.Error("the cursors are kept when they are of no use any more")
	}
}
