package omni

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/play"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// author draws parts.
type author struct {
	t       *rapid.T
	part    play.Part
	answers []client.PromptDecision
	open    []play.Act // calls without an output
	made    int
	subs    []string
}

func drawn(t *rapid.T) (play.Part, []client.PromptDecision) {
	a := &author{t: t}
	for range rapid.IntRange(1, 20).Draw(t, "acts") {
		a.act()
	}
	switch rapid.SampledFrom([]string{"well", "well", "fail", "wait"}).Draw(t, "end") {
	case "fail":
		a.add(play.Act{Kind: play.Fail, Text: "It is broken."})
	case "wait":
		a.add(play.Act{Kind: play.Wait, Text: "Here I wait."})
	}
	return a.part, a.answers
}

func (a *author) add(act play.Act) { a.part = append(a.part, act) }

// who is an agent that may speak.
func (a *author) who() string {
	return rapid.SampledFrom(append([]string{"", ""}, a.subs...)).Draw(a.t, "who")
}

func (a *author) act() {
	words := rapid.StringMatching(`[a-zA-Z .,<&"\n信封é🚀\\]{1,12}`)
	switch kind := rapid.SampledFrom([]play.Kind{
		play.Say, play.Say, play.Say, play.End, play.Think, play.Muse, play.Call, play.Call, play.Return, play.Return, play.Break, play.Ask,
		play.Begin, play.Finish,
	}).Draw(a.t, "kind"); kind {
	case play.Say, play.Think, play.Muse:
		a.add(play.Act{Kind: kind, Who: a.who(), Text: words.Draw(a.t, "words")})
	case play.End:
		a.add(play.Act{Kind: kind, Who: a.who()})
	case play.Call:
		a.made++
		call := play.Act{
			Kind: kind, Who: a.who(), Call: fmt.Sprintf("call-%d", a.made), Tool: rapid.SampledFrom([]string{"Bash", "Grep"}).Draw(a.t, "tool"),
			Value: rapid.SampledFrom([]json.RawMessage{command, json.RawMessage(`{}`), json.RawMessage(`{"a":[1,{"b":"\u003c"}]}`)}).Draw(a.t, "input"),
		}
		a.add(call)
		a.open = append(a.open, call)
	case play.Return, play.Break, play.Ask:
		a.about(kind, words)
	case play.Begin:
		if name := fmt.Sprintf("sub_%d", len(a.subs)); len(a.subs) < 2 {
			a.add(play.Act{Kind: kind, Who: name, Text: words.Draw(a.t, "task")})
			a.subs = append(a.subs, name)
		}
	case play.Finish:
		if n := len(a.subs); n > 0 {
			a.add(play.Act{Kind: kind, Who: a.subs[n-1], Text: "done"})
			a.subs = a.subs[:n-1]
		}
	}
}

// about does something with a call that is open.
func (a *author) about(kind play.Kind, words *rapid.Generator[string]) {
	if len(a.open) == 0 {
		return
	}
	i := rapid.IntRange(0, len(a.open)-1).Draw(a.t, "which")
	act := a.open[i]
	act.Kind = kind
	if kind != play.Ask {
		act.Text, act.Value = words.Draw(a.t, "words"), nil
		a.open = append(a.open[:i:i], a.open[i+1:]...)
		a.add(act)
		return
	}
	if act.Who != "" {
		return
	}
	a.add(act)
	a.answers = append(a.answers, rapid.SampledFrom([]client.PromptDecision{client.PromptDecisionAllow, client.PromptDecisionDeny}).Draw(a.t, "answer"))
}

// TestRandomPartsAreOneStory plays what nobody has thought of, each part in a conversation of its own.
func TestRandomPartsAreOneStory(t *testing.T) {
	s := newStage(t)
	rapid.Check(t, func(t *rapid.T) {
		part, answers := drawn(t)
		a := s.newAudience(t, 2)
		a.play(part, answers...)
		a.play(closing)
		a.agree()
	})
}
