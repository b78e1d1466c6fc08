// Package nemesis plans what goes wrong in a fault test: which faults, in which order, how far apart and for how long. A plan follows from
// its seed and its figures alone, so that whoever has seen a failure can play the same plan again.
package nemesis

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// Fault is one way in which things go wrong.
type Fault string

// Faults. Each ends by itself: what was killed is started again on its state, what was stopped goes on.
const (
	KillEdge  Fault = "the edge is killed"
	KillHub   Fault = "the hub is killed"
	WipeBus   Fault = "the bus is replaced by an empty one"
	Cut       Fault = "the tunnel is cut"
	Unplug    Fault = "the tunnel is gone for a moment"
	HalfOpen  Fault = "the tunnel is half-open for a moment"
	PauseEdge Fault = "the edge is paused"
	PauseHub  Fault = "the hub is paused"

	DarkHub  Fault = "the hub's machine loses power"
	DarkEdge Fault = "the edge's machine loses power"
	DarkBoth Fault = "both machines lose power"
)

// Figures are how many of each.
type Figures map[Fault]int

// Step is one fault of a plan.
type Step struct {
	Fault Fault
	After time.Duration // since the end of the step before
	Lasts time.Duration
}

// String is a line of a test's output.
func (s Step) String() string {
	return fmt.Sprintf("%s after %s, for %s", s.Fault, s.After.Round(time.Millisecond), s.Lasts.Round(time.Millisecond))
}

// Bounds of the two times of a step. An edge connects and a frame is committed well within the longest pause between two faults; the
// shortest strikes the second fault into the recovery from the first.
const (
	soonest, latest   = 20 * time.Millisecond, 1200 * time.Millisecond
	shortest, longest = 0, 500 * time.Millisecond
)

// Plan returns the steps, the same ones for the same seed and figures.
func Plan(seed uint64, figures Figures) []Step {
	random := rand.New(rand.NewPCG(seed, 0))
	var steps []Step
	for _, fault := range slices.Sorted(maps.Keys(figures)) {
		for range figures[fault] {
			steps = append(steps, Step{Fault: fault, After: between(random, soonest, latest), Lasts: between(random, shortest, longest)})
		}
	}
	random.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	return steps
}

func between(random *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(random.Int64N(int64(most-least)))
}

// Moments returns n different numbers below all in rising order: at which of so many events something happens.
func Moments(seed uint64, n, all int) []int {
	moments := rand.New(rand.NewPCG(seed, 1)).Perm(all)[:n]
	slices.Sort(moments)
	return moments
}
