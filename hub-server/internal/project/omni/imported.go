package omni

import (
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// Imported says whether the conversation was brought as a trace: what it tells is of no machine of ours.
func (s *State) Imported() bool { return s.kept.Imported }

// imported tells a line of a trace as it is. Messages of the conversation say again what some lines say: they are for people who read it elsewhere.
func (s *State) imported(f Fact) {
	s.kept.Imported = true
	p, ok := read[event.ImportedPayload](f)
	if !ok {
		return
	}
	if m, err := omni.Decode([]byte(p.Line)); err == nil { // as it was when it came
		s.out = append(s.out, m)
	}
}
