package cardtree

import (
	"encoding/json"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// waiting are the cards of the agents that wait for a person: of the conversation's own agent it is the newest turn that is open.
func waiting(f *client.CardForest) map[string]bool {
	cards := map[string]bool{}
	for _, p := range f.Prompts() {
		switch {
		case !p.Visible():
		case p.AgentID != "" && p.AgentID != card.MainAgent:
			cards[p.AgentID] = true
		default:
			if turn := openTurn(f); turn != nil {
				cards[turn.ID] = true
			}
		}
	}
	return cards
}

func openTurn(f *client.CardForest) (turn *client.Card) {
	for _, c := range f.Roots() {
		if c.Kind == card.Turn && c.Status == client.CardOpen {
			turn = c
		}
	}
	return turn
}

// Questions are those that wait for a person, each with the command that answers it.
func (t Tree) Questions(f *client.CardForest) []string {
	var lines []string
	for _, p := range f.Prompts() {
		if p.Visible() {
			lines = append(lines, t.question(f, p)...)
		}
	}
	return lines
}

func (t Tree) question(f *client.CardForest, p *client.CardPrompt) []string {
	question, command := ask(p).parts()
	lines := t.wrap("? "+asker(f, p)+" "+question, 0)
	lines[0] = t.Style.Yellow(lines[0])
	dim := func(text string) {
		for _, line := range t.wrap("  "+text, 0) {
			lines = append(lines, t.Style.Dim(line))
		}
	}
	if !t.Now.IsZero() && p.MayHaveExpired(t.Now) {
		dim("asked " + screen.Ago(t.Now, p.AskedAt) + " ago; it may not be waited for any more")
	}
	if !f.MayWait() {
		dim("answer soon: this hub forgets it when it stops")
	}
	return append(lines, t.Style.Bold("  "+command)) // in one piece, so that it can be copied
}

// asker is who asks.
func asker(f *client.CardForest, p *client.CardPrompt) string {
	if c := f.Card(p.AgentID); c != nil && c.Kind == card.Agent {
		return screen.Line(c.Hint.Title, shortened)
	}
	return "the agent"
}

// asking is a question in words: in one line, and whole, the last line of which is the command that answers it.
type asking struct{ line, whole string }

// parts are the question, and the command.
func (a asking) parts() (question, command string) {
	at := strings.LastIndex(a.whole, "\n")
	return a.whole[:at], strings.TrimSpace(a.whole[at:])
}

func ask(p *client.CardPrompt) asking {
	request := screen.Line(p.RequestID, shortened)
	if p.Kind != string(event.PromptPermission) {
		payload := encoded(event.PromptRequestedPayload{Kind: event.PromptKind(p.Kind), Inner: p.Inner})
		return asking{screen.Question(payload), screen.WholeQuestion(request, payload)}
	}
	var tool card.Permission
	json.Unmarshal(p.Inner, &tool) //nolint:errcheck // what it does not say is not shown
	whole := []string{"asks to use " + screen.Line(tool.ToolName, shortened)}
	for _, said := range []string{tool.Message, tool.ToolInput} {
		if said = screen.Clean(said); said != "" {
			whole = append(whole, strings.ReplaceAll(said, "\n", "\n  "))
		}
	}
	whole = append(whole, "yard answer "+request+" allow|deny")
	line := "use " + tool.ToolName
	if more := given(tool.ToolInput, tool.Message); more != "" {
		line += ": " + more
	}
	return asking{
		line:  line,
		whole: strings.Join(whole, "\n  "),
	}
}

// outcomes are how questions end, in words.
var outcomes = map[card.ReplyDecision]string{
	card.Approved: "✓ approved", card.Denied: "✗ denied", card.TimedOut: "✗ nobody answered in time", card.ReplyCancelled: "■ not asked any more",
}
