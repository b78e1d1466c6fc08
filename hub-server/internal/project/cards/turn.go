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
		above = t.parent.spawner()
		payload.ParentAgentID = t.parent.main().id
	}
	main := &scope{}
	t.scopes = []*scope{main}
	t.root = s.openAgent(main, t, "ag_"+digits(r), above, payload)
}

// digits is a run's id without its prefix.
func digits(r Run) string { return strings.TrimPrefix(string(r.ID), "run_") }

// spawner is the card below which a run that this one started appears, as no fact says which: the only step at work, else the newest open call,
// else the newest message, else the run's own card (facts 0.11).
func (t *thread) spawner() *node {
	if step := t.onlyStep(); step != nil {
		return step
	}
	if tool := t.openTool(t.main()); tool != nil {
		return tool
	}
	return t.main().tip()
}

func (t *thread) onlyStep() *node {
	var only *node
	for _, n := range t.nodes {
		if n.kind != card.Step || !n.open {
			continue
		}
		if only != nil {
			return nil
		}
		only = n
	}
	return only
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
