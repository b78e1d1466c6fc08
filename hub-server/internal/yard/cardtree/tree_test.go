package cardtree

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/card"
)

var scenes = map[string]func(*scene){"whole": wholeTurn, "under-way": underWayTurn, "asking": askingTurn}

func TestCardsAreDrawnAsATree(t *testing.T) {
	for name, play := range scenes {
		for look, tree := range map[string]Tree{
			"plain":  {Tail: 3},
			"narrow": {Tail: 3, Width: 44},
			"colour": {Tail: 3, Width: 80, Style: screen.Coloured()},
		} {
			t.Run(name+" "+look, func(t *testing.T) {
				s := newScene()
				play(s)
				tree.Now = began.Add(time.Minute)
				lines := tree.Lines(s.forest)
				golden(t, name+"."+look+".txt", lines)
				for _, line := range lines {
					if tree.Width > 0 && !tree.Style.On() && cells.Width(line) > tree.Width && !strings.Contains(line, "yard answer") {
						t.Errorf("%q is wider than %d", line, tree.Width)
					}
				}
			})
		}
	}
}

func TestWhatEndsIsToldOnOneLine(t *testing.T) {
	for name, play := range scenes {
		for look, style := range map[string]screen.Style{"plain": {}, "colour": screen.Coloured()} {
			t.Run(name+" "+look, func(t *testing.T) {
				s := newScene()
				play(s)
				golden(t, name+".told."+look+".txt", tell(s, Teller{Style: style}))
			})
		}
	}
}

// tell tells a scene as it happens.
func tell(s *scene, teller Teller) (lines []string) {
	forest := client.NewCardForest()
	for _, e := range s.events {
		forest.Apply(e)
		if line := teller.Tell(forest, e); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestOfALongTextThatGrowsTheEndIsLaidOut(t *testing.T) {
	s := newScene()
	s.add("", message, card.MessagePayload{}, nil)
	s.say("", message, card.TextChannel, strings.Repeat("长话\n", maxGrowing)+"the end")
	want := "✎ Message … 1 s\n  … more above\n  长话\n  the end"
	if got := strings.Join(Tree{Tail: 2, Now: s.clock.Add(500 * time.Millisecond)}.Lines(s.forest), "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	s.end("", message, card.End{Status: card.OK})
	if got := (Tree{Tail: 2}).Lines(s.forest); len(got) != maxGrowing+2 {
		t.Errorf("%d lines of the whole", len(got))
	}
}

func TestAnOldQuestionIsCalledOld(t *testing.T) {
	s := newScene()
	askingTurn(s)
	drawn := func(after time.Duration) string {
		return strings.Join(Tree{Now: began.Add(after)}.Questions(s.forest), "\n")
	}
	const day = 24 * time.Hour
	young, old := drawn(6*day), drawn(8*day)
	if strings.Contains(young, "may not be waited for") || !strings.Contains(old, "asked 7 d ago; it may not be waited for any more") {
		t.Errorf("%s\n%s", young, old)
	}
	s.forest.Apply(s.session(card.Opened, card.OpenedInner{ProtocolVersion: card.ProtocolVersion}))
	if got := drawn(time.Minute); !strings.Contains(got, "answer soon: this hub forgets it") {
		t.Error(got)
	}
}

// nasty is what nobody's terminal should be told.
const nasty = "a\x1b[2Jb\x1b]0;title\x07c\u009b31md\u202ee\r\nf\x00\xff"

func TestNothingThatAServerSendsReachesTheTerminalAsASequence(t *testing.T) {
	s := newScene()
	everything := func(kind card.Kind, parent string) {
		fields := map[string]any{}
		for _, name := range []string{
			"name", "model", "intent", "task_prompt", "goal", "input_summary", "subject", "op", "kind", "status", "owner", "topic", "summary", "action_hint",
			"mime_type", "artifact_id", "phase_hint", "phase", "output", "output_summary", "input", "team_name",
		} {
			fields[name] = nasty
		}
		fields["members"] = []string{nasty}
		r := ref(kind, string(kind)+nasty, parent)
		hint := &card.Hint{Title: nasty, Summary: nasty, Icon: nasty, Persona: nasty}
		s.add("", r, fields, hint)
		for _, channel := range []card.Channel{card.TextChannel, card.ThinkingChannel, card.ToolInputChannel} {
			s.say("", r, channel, nasty)
		}
		s.tick(r, card.Progress, card.ProgressTick{Stage: nasty, Unit: nasty, ItemsTotal: 2})
		s.tick(r, card.Note, card.NoteTick{Text: nasty})
		s.tick(r, card.Intent, card.IntentTick{Intent: nasty})
		s.tick(r, card.Escalation, card.EscalationTick{FromMode: nasty, ToMode: nasty, Reason: nasty})
		if kind == card.Step {
			return // it is under way
		}
		s.end("", r, card.End{Status: card.Failed, Inner: fields, Error: &card.ErrorInfo{Type: card.ErrorType(nasty), Message: nasty, UserMessage: nasty}})
	}
	parent := ""
	for kind := range icons {
		everything(kind, parent)
		parent = string(kind) + nasty
	}
	everything(card.Kind(nasty), parent)
	s.ask("", nasty, "permission", card.Permission{ToolName: nasty, ToolInput: nasty, Message: nasty})
	s.ask(string(card.Agent)+nasty, "q", "question", map[string]any{"question": nasty, "options": []map[string]string{{"label": nasty, "description": nasty}}})
	s.ask("", "u", nasty, map[string]any{nasty: nasty})
	s.reply(nasty, card.ReplyDecision(nasty), nasty)
	told := tell(s, Teller{})
	w := newWindow(s, nasty, 300, 500)
	for name, lines := range map[string][]string{
		"tree": Tree{Now: s.clock}.Lines(s.forest), "wrapped": Tree{Width: 40, Now: s.clock}.Lines(s.forest), "told": told, "window": strings.Split(w.View(), "\n"),
	} {
		if len(lines) < 15 {
			t.Errorf("%s has %d lines", name, len(lines))
		}
		for _, line := range lines {
			if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x9b || r == 0x202e || r == 0x7f }) {
				t.Fatalf("%s: %q", name, line)
			}
		}
	}
}

func TestCardsThatAreNotWhatTheyMustBeAreDrawnAsFarAsTheyAre(t *testing.T) {
	s := newScene()
	s.add("", turn, map[string]any{"turn_no": "x"}, &card.Hint{Title: "T"})
	s.add("", tool, map[string]any{"name": 3, "input": []int{1}, "phase": 1, "output": true}, &card.Hint{Title: "U"})
	s.add("", ref(card.Budget, "b", "turn_1"), map[string]any{"spent": 5, "limit": "much"}, &card.Hint{Title: "V"})
	s.tick(tool, card.Progress, json.RawMessage(`{"progress_pct":-3,"eta_ms":-5}`))
	s.tick(tool, "dance", map[string]any{})
	s.tick(tool, card.Progress, json.RawMessage(`[]`))
	s.end("", tool, card.End{Status: "melted"})
	got := strings.Join(Tree{}.Lines(s.forest), "\n")
	want := "▶ T\n├─ ⚙ tool U [1] – melted 2.0 s\n└─ $ budget V"
	if !strings.Contains(got, "– melted") || strings.Count(got, "\n") != 2 {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
