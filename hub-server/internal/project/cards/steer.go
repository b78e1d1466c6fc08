package cards

import (
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// steered shows what a person says to a run at work, on its turn.
func (s *State) steered(f Fact) {
	p, ok := read[event.SteeredPayload](f)
	t := s.thread(f.Run.ID)
	if !ok || t == nil {
		return
	}
	if len(t.steers) < event.MaxSteers && !slices.Contains(t.steers, p.SteerID) {
		t.steers = append(t.steers, p.SteerID)
	}
	s.turnNote(t, s.words("对智能体说：", "Said to the agent: ")+p.Text)
}

func (s *State) steerWithdrawn(f Fact) {
	if p, ok := read[event.SteerWithdrawnPayload](f); ok {
		s.steerSettled(f, p.SteerID, s.words("已撤回对智能体说的话", "What was said to the agent was taken back"))
	}
}

func (s *State) steerTaken(f Fact) {
	if p, ok := read[event.SteerTakenPayload](f); ok {
		s.steerSettled(f, p.SteerID, s.words("智能体已收到刚才的话", "The agent has heard what was said to it"))
	}
}

// steerSettled tells what has become of something that waited; nothing of what did not.
func (s *State) steerSettled(f Fact, steer id.Steer, what string) {
	t := s.thread(f.Run.ID)
	if t == nil || !slices.Contains(t.steers, steer) {
		return
	}
	t.steers = slices.DeleteFunc(t.steers, func(other id.Steer) bool { return other == steer })
	s.turnNote(t, what)
}

// undelivered tells at the end of a run what its agent has not heard.
func (s *State) undelivered(t *thread) {
	if n := len(t.steers); n > 0 && t.root.open {
		said := fmt.Sprintf(s.words("有 %d 句话没有传达给智能体", "The agent has not heard what was said to it (%d)"), n)
		s.note(t.root, said, card.Warn)
	}
	t.steers = nil
}

// turnNote tells something on the turn of the run, if it is open.
func (s *State) turnNote(t *thread, text string) {
	if t.root.open {
		s.note(t.root, text, card.Info)
	}
}
