package omni

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/play"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

var command = json.RawMessage(`{"command": "rm -rf /tmp/scratch", "n": 1.0}`)

// closing is the last part of each conversation: whoever has seen it has seen all.
var closing = play.Part{{Kind: play.Say, Text: "That was all."}, {Kind: play.End}}

// scene is a part with the answers to what it asks, and how it ends.
type scene struct {
	part    play.Part
	answers []client.PromptDecision
	outcome string
}

func scenes() []scene {
	return []scene{work(), team(), doubt(), breakdown(), stop()}
}

// work has thoughts of both kinds, texts in pieces, and two calls of which the second one returns first and has failed.
func work() scene {
	return scene{part: play.Part{
		{Kind: play.Muse, Text: "First I look, "}, {Kind: play.Muse, Text: "then I speak. "},
		{Kind: play.Say, Text: "Let me "}, {Kind: play.Think, Text: "Where? "}, {Kind: play.Say, Text: "see <&> \u2028 信封 🚀."}, {Kind: play.End},
		{Kind: play.Call, Call: "c1", Tool: "Bash", Value: command}, {Kind: play.Call, Call: "c2", Tool: "Grep", Value: json.RawMessage(`{}`)},
		{Kind: play.Break, Call: "c2", Tool: "Grep", Text: "Nothing is found."},
		{Kind: play.Return, Call: "c1", Tool: "Bash", Text: "a.go\nb.go\n"},
		{Kind: play.Say, Text: "Two files."}, {Kind: play.End}, {Kind: play.Say, Text: "That is it."},
	}, outcome: completed}
}

// team has a sub-agent that speaks and works between what the agent itself says.
func team() scene {
	return scene{part: play.Part{
		{Kind: play.Say, Text: "I ask somebody."}, {Kind: play.End},
		{Kind: play.Call, Call: "c1", Tool: "Agent", Value: json.RawMessage(`{"prompt":"Look."}`)},
		{Kind: play.Begin, Who: "sub_a", Text: "Look for bugs.", Call: "c1"}, {Kind: play.Muse, Who: "sub_a", Text: "Is it here? "},
		{Kind: play.Call, Who: "sub_a", Call: "s1", Tool: "Grep", Value: json.RawMessage(`{"pattern":"auth"}`)},
		{Kind: play.Say, Text: "Meanwhile I wait. "}, {Kind: play.Return, Who: "sub_a", Call: "s1", Tool: "Grep", Text: "Found 3"},
		{Kind: play.Say, Who: "sub_a", Text: "There are three."}, {Kind: play.End, Who: "sub_a"},
		{Kind: play.Say, Text: "Still."}, {Kind: play.End}, {Kind: play.Finish, Who: "sub_a", Text: "Found 3"},
		{Kind: play.Return, Call: "c1", Tool: "Agent", Text: "3 bugs"}, {Kind: play.Say, Text: "Three."},
	}, outcome: completed}
}

// doubt asks twice, and may once.
func doubt() scene {
	return scene{part: play.Part{
		{Kind: play.Call, Call: "c1", Tool: "Bash", Value: command}, {Kind: play.Ask, Call: "c1", Tool: "Bash", Value: command},
		{Kind: play.Return, Call: "c1", Tool: "Bash", Text: "gone"}, {Kind: play.Call, Call: "c2", Tool: "Bash", Value: command},
		{Kind: play.Ask, Call: "c2", Tool: "Bash", Value: command}, {Kind: play.Return, Call: "c2", Tool: "Bash", Text: "gone"},
		{Kind: play.Say, Text: "One is."},
	}, answers: []client.PromptDecision{client.PromptDecisionDeny, client.PromptDecisionAllow}, outcome: completed}
}

// breakdown fails with a call that has not returned.
func breakdown() scene {
	return scene{part: play.Part{
		{Kind: play.Say, Text: "I try. "}, {Kind: play.Call, Call: "c1", Tool: "Bash", Value: command},
		{Kind: play.Fail, Text: "The model does not answer."},
	}, outcome: failed}
}

// stop is called off while a sub-agent speaks and a call is open.
func stop() scene {
	return scene{part: play.Part{
		{Kind: play.Begin, Who: "sub_a", Text: "Look."}, {Kind: play.Say, Who: "sub_a", Text: "I look and "},
		{Kind: play.Call, Call: "c1", Tool: "Bash", Value: command}, {Kind: play.Wait, Text: "Here I stop."},
	}, outcome: aborted}
}

func TestFourProtocolsTellOneStory(t *testing.T) {
	all := scenes()
	a := newStage(t).newAudience(t, len(all)+1)
	for _, sc := range all {
		a.play(sc.part, sc.answers...)
	}
	a.play(closing)
	told := a.agree()
	for i, sc := range all {
		if got := told.turns[i].outcome; got != sc.outcome {
			t.Errorf("turn %d is %s, want %s", i+1, got, sc.outcome)
		}
	}
	for _, part := range []string{"信封 🚀", "denied", "sub_a thinks", "well a.go", "failed Nothing", "stopped"} {
		if !strings.Contains(told.String(), part) {
			t.Errorf("%s is missing in\n%s", part, told)
		}
	}
}
