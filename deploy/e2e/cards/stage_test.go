package cards

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// stage is a hub and an edge with agents that play what they are asked for, and go on when they get their cue.
type stage struct {
	*rig.Rig
	t    *testing.T
	edge *rig.Edge
}

func newStage(t *testing.T, agents ...string) *stage {
	t.Helper()
	s := &stage{t: t, Rig: rig.New(t, rig.Options{
		Env:     []string{"HUB_NOTICE_AFTER=1h"}, // on a slow machine too nobody is told that the edge was away
		EdgeEnv: []string{"EDGE_PLACES=16"},
	})}
	profiles := map[string]string{}
	for _, name := range agents {
		profiles[name] = rig.Profile("events", s.Program("testagent"), "--scenes", "--cue", s.cueOf(name)) + "permission: true\nkill_grace_secs: 1\n"
	}
	s.edge = s.AddEdge("laptop", profiles)
	for _, name := range agents {
		s.Owner().AgentID(name)
	}
	return s
}

func (s *stage) cueOf(agent string) string { return filepath.Join(s.Dir, agent+".cue") }

// enter has a client open a conversation with an agent and say what asks for a scenario.
func (s *stage) enter(agent string, sc scenario) *line {
	s.t.Helper()
	l := s.dial(&script{t: s.t}, client.NewCardForest())
	l.agent = agent
	l.say(card.SessionCreate{AgentID: s.Owner().AgentID(agent)}, "conversation with "+agent)
	l.opened()
	l.say(sc.message, sc.name)
	return l
}

// writeFirst is enter for a client that says what it wants and leaves it to the hub where (R5): in a new conversation.
func (s *stage) writeFirst(agent string, sc scenario) *line {
	s.t.Helper()
	l := s.dial(&script{t: s.t}, client.NewCardForest())
	l.agent = agent
	sc.message.AgentID = s.Owner().AgentID(agent)
	l.say(sc.message, sc.name)
	l.opened()
	return l
}

// tickPause is longer than what lies at least between two ticks of one kind that are told (S0 §6.4).
const tickPause = 300 * time.Millisecond

// cue lets the agent go on. Behind a tick that takes as long as it must for the next one to be told.
func cue(l *line, e card.Event) {
	l.s.t.Helper()
	if e.Type == card.Tick {
		<-time.After(time.Until(e.Envelope.Timestamp.Add(tickPause)))
	}
	if err := os.WriteFile(l.s.cueOf(l.agent), nil, 0o600); err != nil {
		l.s.t.Fatal(err)
	}
}

// request is the id of a question.
func (l *line) request() id.Request {
	l.s.t.Helper()
	var open []id.Request
	for _, p := range l.forest.Prompts() {
		if p.Visible() {
			open = append(open, id.Request(p.RequestID))
		}
	}
	if len(open) != 1 {
		l.s.t.Fatalf("%d questions are shown, after\n%s", len(open), l.script.text())
	}
	return open[0]
}
