package cards

import (
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// steered shows what a person says to a run at work, on its turn.
func (s *State) steered(f Fact) {
	if p, ok := read[event.SteeredPayload](f); ok {
		s.turnNote(f, s.words("对智能体说：", "Said to the agent: ")+p.Text)
	}
}

func (s *State) steerWithdrawn(f Fact) {
	s.turnNote(f, s.words("已撤回对智能体说的话", "What was said to the agent was taken back"))
}

func (s *State) steerTaken(f Fact) {
	s.turnNote(f, s.words("智能体已收到刚才的话", "The agent has heard what was said to it"))
}

// turnNote tells something on the turn of the run, if one is open.
func (s *State) turnNote(f Fact, text string) {
	if t := s.thread(f.Run.ID); t != nil && t.root.open {
		s.note(t.root, text, card.Info)
	}
}
