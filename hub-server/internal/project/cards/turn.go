package cards

import (
	"strings"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// Channels of a turn (S0 §10.1).
const (
	channelChat = "chat"
	channelAPI  = "api"
)

// of returns the thread of an event's run. The first event that shows anything opens the run's card: a turn, or an agent card for a run that
// another one started.
func (s *State) of(r Run) *thread {
	t := s.thread(r.ID)
	if t != nil {
		return t
	}
	t = &thread{run: r.ID}
	s.threads = append(s.threads, t)
	if r.Parent == "" {
		s.openTurn(t, r)
	} else {
		s.openChild(t, r)
	}
	return t
}

func (s *State) openTurn(t *thread, r Run) {
	s.turns++
	payload := card.TurnPayload{TurnNo: int(s.turns), Channel: channelChat}
	if r.Trigger == "" {
		payload.Channel = channelAPI
	}
	main := &scope{id: card.MainAgent}
	t.scopes = []*scope{main}
	t.root = s.open(main, t, card.Turn, digits(r), nil, payload, &card.Hint{Summary: summary(r.Asked)})
	main.card = t.root
}

// openChild shows a run that a run started as an agent at work in that one. A run whose parent has shown nothing, or has ended with all its
// family, stands at the root.
func (s *State) openChild(t *thread, r Run) {
	payload := card.AgentPayload{Name: r.Agent, AgentType: "async", TaskPrompt: r.Asked}
	var above *node
	if t.parent = s.thread(r.Parent); t.parent != nil {
		t.parent.alive++
		above = t.parent.spawnerOfRun(r.Agent)
		payload.ParentAgentID = above.scope.id
	}
	main := &scope{}
	t.scopes = []*scope{main}
	t.root = s.openAgent(main, t, "ag_"+digits(r), above, payload)
}

// digits is a run's id without its prefix.
func digits(r Run) string { return strings.TrimPrefix(string(r.ID), "run_") }

// spawnerOfRun is the card below which a run of an agent appears that this one started (S0 §10.4). No fact names the call, so it is the step that such an
// agent works at, else the newest open call that hands work on, else the newest open one of the run's own agent, else of any, else the newest
// message, else the run's own card.
func (t *thread) spawnerOfRun(agent string) *node {
	if step := t.stepFor(agent); step != nil {
		return step
	}
	for _, so := range []func(*node) bool{
		func(n *node) bool { return handsOn(n.title) },
		func(n *node) bool { return n.scope == t.main() },
		func(*node) bool { return true },
	} {
		if call := t.newest(func(n *node) bool { return n.kind == card.Tool && n.open && so(n) }); call != nil {
			return call
		}
	}
	return t.main().tip()
}

func (s *State) runStarted(f Fact) {
	t := s.of(f.Run)
	if p, ok := read[event.RunStartedPayload](f); ok && !p.StartedAt.IsZero() {
		t.root.began = p.StartedAt.UnixMilli()
	}
}

// runCancelling remembers that somebody asked for the run to stop: what ends now was stopped.
func (s *State) runCancelling(f Fact) {
	if t := s.thread(f.Run.ID); t != nil {
		t.cancelling = true
	}
}
