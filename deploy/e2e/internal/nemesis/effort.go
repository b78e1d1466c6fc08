package nemesis

import "time"

// Full is about how long the tests of the faults take at the figures that docs/guarantees.md states.
const Full = 10 * time.Minute

// Effort is how much a run of the fault tests does.
type Effort struct {
	Seed uint64
	Time time.Duration // about; Full means the figures as stated
}

// Of scales a stated figure, to 1 at least.
func (e Effort) Of(stated int) int {
	return max(1, int((time.Duration(stated)*e.Time+Full-1)/Full))
}
