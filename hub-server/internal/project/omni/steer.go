package omni

import (
	"slices"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// steeringMark is what the model sees before a text that a person says to a run at work (S1 "steering").
const steeringMark = "[user_steering]\n"

func (s *State) steered(f Fact) {
	if p, ok := read[event.SteeredPayload](f); ok {
		s.kept.Steers = append(s.kept.Steers, Steer{ID: p.SteerID, Run: f.Run.ID, Text: p.Text})
	}
}

func (s *State) steerWithdrawn(f Fact) {
	if p, ok := read[event.SteerWithdrawnPayload](f); ok {
		s.takeSteer(f.Run.ID, p.SteerID)
	}
}

// steerTaken tells the text where it becomes part of the model's context. One that was not said, or that was taken before, is none.
func (s *State) steerTaken(f Fact) {
	p, ok := read[event.SteerTakenPayload](f)
	if !ok {
		return
	}
	text, waited := s.takeSteer(f.Run.ID, p.SteerID)
	if !waited {
		return
	}
	main := s.main(s.of(f.Run))
	s.close(main, "")
	if !main.Request.Stated {
		s.requestEnds(main, end{stop: omni.Completed})
	}
	s.tell(main, omni.UserText(steeringMark+text))
}

// takeSteer takes a text from those that wait; false if it is not among them.
func (s *State) takeSteer(run id.Run, which id.Steer) (text string, waited bool) {
	i := slices.IndexFunc(s.kept.Steers, func(w Steer) bool { return w.Run == run && w.ID == which })
	if i < 0 {
		return "", false
	}
	text = s.kept.Steers[i].Text
	s.kept.Steers = slices.Delete(s.kept.Steers, i, i+1)
	return text, true
}
