package cardtree

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/card"
)

// newWindow is a window that was told all of a scene, and knows nothing of its clock but that.
func newWindow(s *scene, name string, width, height int) *Window {
	w := NewWindow(name, screen.Style{}, func() time.Time { return s.clock })
	w.Resize(width, height)
	w.Update(client.CardUpdate{Link: client.LinkUp, Event: &card.Event{}})
	for _, e := range s.events {
		w.Update(client.CardUpdate{Event: &e, Verdict: client.Applied})
	}
	return w
}

func (w *Window) tells(s *scene) {
	e := s.events[len(s.events)-1]
	w.Update(client.CardUpdate{Event: &e, Verdict: client.Applied})
}

func lines(w *Window) []string { return strings.Split(w.View(), "\n") }

// longScene is a turn with a hundred messages.
func longScene() *scene {
	s := newScene()
	s.add("", turn, card.TurnPayload{TurnNo: 1}, nil)
	for i := range 100 {
		r := ref(card.Message, fmt.Sprintf("msg_%d", i), "turn_1")
		s.add("", r, card.MessagePayload{}, nil)
		s.say("", r, card.TextChannel, fmt.Sprintf("line %d", i))
		s.end("", r, card.End{Status: card.OK})
	}
	return s
}

func TestAWindowGoesAlongUntilSomebodyScrolls(t *testing.T) {
	s := longScene()
	w := newWindow(s, "demo", 60, 11)
	top := func() string { return strings.TrimSpace(strings.Join(lines(w)[:2], "|")) }
	if got := lines(w); len(got) != 11 || !strings.Contains(got[9], "line 99") || !strings.Contains(got[10], "demo ● live") {
		t.Fatalf("%q", got)
	}
	w.Key("up")
	if got := lines(w); !strings.Contains(got[9], "└─ ✎ Message") || !strings.Contains(got[10], "End follows") {
		t.Errorf("%q", got)
	}
	before := top()
	s.say("", ref(card.Message, "msg_99", ""), card.TextChannel, "\nand more")
	w.tells(s)
	if top() != before {
		t.Errorf("the screen moved from %q to %q", before, top())
	}
	w.Key("end")
	if got := lines(w); !strings.Contains(got[9], "and more") {
		t.Errorf("%q", got)
	}
	w.Key("home")
	if got := lines(w); !strings.HasPrefix(got[0], "▶ Turn 1") {
		t.Errorf("%q", got)
	}
	for range 100 {
		w.Key("pgdown")
	}
	if got := lines(w); !strings.Contains(got[9], "and more") || strings.Contains(got[10], "End follows") {
		t.Errorf("%q", got)
	}
	for _, key := range []string{"q", "ctrl+c", "ctrl+q"} {
		if !w.Key(key) {
			t.Errorf("%s does not leave", key)
		}
	}
}

func TestEveryLineFitsTheScreenWhateverItsSize(t *testing.T) {
	for name, play := range scenes {
		s := newScene()
		play(s)
		for _, size := range [][2]int{{1, 1}, {7, 3}, {20, 5}, {40, 20}, {120, 40}} {
			got := lines(newWindow(s, "demo", size[0], size[1]))
			if len(got) != size[1] {
				t.Errorf("%s: %d lines on %v", name, len(got), size)
			}
			for _, line := range got {
				if size[0] >= 2*narrowest && cells.Width(line) > size[0] && !strings.Contains(line, "yard answer") {
					t.Errorf("%s: %q is too wide for %v", name, line, size)
				}
			}
		}
	}
}

func TestAWindowShowsWhatHasBecomeOfEachCard(t *testing.T) {
	s := newScene()
	underWayTurn(s)
	w := newWindow(s, "demo", 80, 40)
	for _, e := range []func(){
		func() { s.end("", tool, card.End{Status: card.OK, Inner: card.ToolPayload{Output: "300 pages"}}) },
		func() { s.end("", message, card.End{Status: card.OK}) },
		func() { s.end("", turn, card.End{Status: card.Cancelled}) },
		func() { s.end("", turn, card.End{Status: card.OK}) }, // the latest end counts
		func() { s.add("", ref(card.Turn, "turn_2", ""), card.TurnPayload{TurnNo: 2}, nil) },
		func() { s.add("", ref(card.Turn, "turn_1", "turn_2"), card.TurnPayload{TurnNo: 1}, nil) }, // opened anew, elsewhere
	} {
		e()
		w.tells(s)
		want := Tree{Width: 80, Tail: tail, Now: s.clock}.Lines(s.forest)
		if got := strings.TrimRight(strings.Join(lines(w)[:39], "\n"), "\n"); got != strings.Join(want, "\n") {
			t.Fatalf("the window shows\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
	}
	s.clock = s.clock.Add(time.Hour)
	if got := w.View(); !strings.Contains(got, "… 60 min") {
		t.Errorf("time goes on:\n%s", got)
	}
}

func TestALateEndIsSeenInATurnThatIsOver(t *testing.T) {
	s := newScene()
	wholeTurn(s)
	w := newWindow(s, "demo", 80, 60)
	before := w.View()
	s.end("", ref(card.Tool, "toolu_2", "msg_1"), card.End{Status: card.OK, Inner: card.ToolPayload{Output: "late, but well"}})
	w.tells(s)
	if got := w.View(); strings.Contains(before, "late, but well") || !strings.Contains(got, "late, but well") {
		t.Errorf("the window shows\n%s", got)
	}
}

func TestAQuestionThatComesBeforeItsTurnIsNoGap(t *testing.T) {
	s := newScene()
	askingTurn(s)
	w := NewWindow("demo", screen.Style{}, func() time.Time { return s.clock })
	w.Resize(80, 60)
	opened := s.session(card.Opened, card.OpenedInner{ProtocolVersion: card.ProtocolVersion, Capabilities: card.Capabilities{Recovery: true}})
	w.Update(client.CardUpdate{Event: &opened, Verdict: client.Applied, Link: client.LinkUp})
	feed := client.NewCardForest()
	feed.Apply(opened)
	give := func(e card.Event) { // as a CardFeed does
		if v := feed.Apply(e); v != client.Repeated && (v != client.Missed || e.Type == card.PromptUser) {
			w.Update(client.CardUpdate{Event: &e, Verdict: v})
		}
	}
	for _, e := range s.events {
		if e.Type == card.PromptUser {
			give(e)
		}
	}
	if got := w.View(); !strings.Contains(got, "yard answer req_1 allow|deny") || strings.Contains(got, "Turn 1") {
		t.Errorf("before the trace:\n%s", got)
	}
	for _, e := range s.events {
		give(e)
	}
	want := Tree{Width: 80, Tail: tail, Now: s.clock}.Lines(s.forest)
	if got := strings.TrimRight(strings.Join(lines(w)[:59], "\n"), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the window shows\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestAWindowSaysHowTheConnectionIs(t *testing.T) {
	s := newScene()
	w := NewWindow("demo", screen.Style{}, func() time.Time { return s.clock })
	if w.View() != "" {
		t.Errorf("a window without a size shows %q", w.View())
	}
	w.Resize(60, 5)
	busy := &client.ProblemError{Problem: client.Problem{Code: "busy"}}
	for _, c := range []struct {
		update client.CardUpdate
		want   string
	}{
		{client.CardUpdate{}, "○ connecting"},
		{client.CardUpdate{Link: client.LinkUp}, "● live"},
		{client.CardUpdate{Link: client.LinkDown, Err: errors.New("x")}, "○ connection lost; trying again"},
		{client.CardUpdate{Link: client.LinkDown, Err: busy}, "○ the hub lets nobody in right now (busy); trying"},
	} {
		w.Update(c.update)
		if got := lines(w); !strings.Contains(got[4], "demo "+c.want) || got[0] != "no cards yet" {
			t.Errorf("%q, want %s", got, c.want)
		}
	}
	expired := s.session(card.ResumeFailed, card.ResumeFailedInner{Reason: card.EventsExpired})
	w.Update(client.CardUpdate{Link: client.LinkUp})
	w.Update(client.CardUpdate{Event: &expired})
	if got := lines(w)[4]; !strings.Contains(got, "what was before is not kept") {
		t.Errorf("%q", got)
	}
}

func TestWhatIsLeftIsTheNewestTurn(t *testing.T) {
	s := newScene()
	wholeTurn(s)
	s.add("", ref(card.Turn, "turn_2", ""), card.TurnPayload{TurnNo: 2}, nil)
	s.ask("", "req_1", "permission", card.Permission{ToolName: "Bash"})
	got := strings.Join(newWindow(s, "demo", 80, 10).Rest(), "\n")
	if !strings.HasPrefix(got, "▶ Turn 2") || !strings.Contains(got, "yard answer req_1 allow|deny") || strings.Contains(got, "Turn 1") {
		t.Error(got)
	}
}
