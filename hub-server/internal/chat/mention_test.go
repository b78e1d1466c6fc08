package chat

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

var (
	scout  = id.NewAgent()
	writer = id.NewAgent()
	dotted = id.NewAgent()
	room   = []Member{
		{ID: OfUser(id.NewUser()), Name: "ada"}, {ID: OfAgent(scout), Name: "scout"}, {ID: OfAgent(writer), Name: "writer"},
		{ID: OfAgent(dotted), Name: "v1."},
	}
)

func TestAgentsAreFoundByTheNameBehindAnAt(t *testing.T) {
	for text, want := range map[string][]id.Agent{
		"@scout look":                     {scout},
		"hey @scout, and @writer.":        {scout, writer},
		"(@scout)":                        {scout},
		"@scout @scout @scout":            {scout},
		"@writer then @scout":             {writer, scout},
		"mail scout@scout.example":        nil,
		"a@scout":                         nil,
		"@Scout":                          nil, // names are exact
		"@scouts":                         nil,
		"@ada":                            nil, // a person is no agent
		"@":                               nil,
		"@@scout":                         {scout},
		"no mention":                      nil,
		"see @v1. It":                     {dotted},
		"@scout…":                         {scout},
		"你好 @scout 请看":                    {scout},
		"你好@scout":                        {scout}, // no spaces in Chinese
		strings.Repeat("@", 1000):         nil,
		"@scout-the-second is not @scout": {scout},
	} {
		if got := agentsNamed(text, room); !slices.Equal(got, want) {
			t.Errorf("%q names %v, want %v", text, got, want)
		}
	}
}

func TestThePromptIsTheTextWithoutTheNamesItBeginsWith(t *testing.T) {
	for text, want := range map[string]string{
		"@scout what changed?":       "what changed?",
		"@scout, what changed?":      "what changed?",
		"  @scout  @writer: do it ":  "do it",
		"tell @scout to look":        "tell @scout to look",
		"@scout":                     "",
		"@scout.":                    ".",
		"@ada hello":                 "@ada hello",
		"@unknown do":                "@unknown do",
		"@scout\nline one\nline two": "line one\nline two",
	} {
		if got := promptOf(text, room); got != want {
			t.Errorf("prompt of %q is %q, want %q", text, got, want)
		}
	}
}

func FuzzMentions(f *testing.F) {
	f.Add("@scout hello @writer.")
	f.Add("@@@v1..@scout,")
	f.Fuzz(func(t *testing.T, text string) {
		for _, agent := range agentsNamed(text, room) {
			if !slices.ContainsFunc(room, func(m Member) bool { return m.ID == OfAgent(agent) && strings.Contains(text, "@"+m.Name) }) {
				t.Fatalf("%q mentions %s", text, agent)
			}
		}
		prompt := promptOf(text, room)
		if !strings.Contains(text, prompt) || (utf8.ValidString(text) && !utf8.ValidString(prompt)) {
			t.Fatalf("prompt %q is not part of %q", prompt, text)
		}
	})
}

func view(name string, agent id.Agent, operable bool) fleet.AgentView {
	return fleet.AgentView{Agent: fleet.Agent{ID: agent, Name: name}, CanOperate: operable}
}

func TestOfTwoAgentsWithOneNameTheOneThatISteerIsMeant(t *testing.T) {
	mine, theirs := id.NewAgent(), id.NewAgent()
	views := []fleet.AgentView{view("scout", theirs, false), view("scout", mine, true)}
	got, err := choose(nil, []id.Agent{theirs, mine}, views)
	if err != nil || len(got) != 1 || got[0].ID != mine {
		t.Fatalf("by name: %v, %v", got, err)
	}
	if _, err := choose([]id.Agent{theirs}, nil, views); fault.CodeOf(err) != fault.AgentOperateRequired {
		t.Fatalf("by id: %v", err)
	}
	if _, err := choose(nil, []id.Agent{theirs}, views[:1]); fault.CodeOf(err) != fault.AgentOperateRequired {
		t.Fatalf("by name alone: %v", err)
	}
}
