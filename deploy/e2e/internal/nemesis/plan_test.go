package nemesis_test

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/nemesis"
)

func TestOneSeedGivesOnePlan(t *testing.T) {
	figures := nemesis.Figures{nemesis.KillEdge: 20, nemesis.KillHub: 20, nemesis.WipeBus: 10}
	plan := nemesis.Plan(7, figures)
	if !slices.Equal(plan, nemesis.Plan(7, figures)) {
		t.Error("the same seed gave another plan")
	}
	if slices.Equal(plan, nemesis.Plan(8, figures)) {
		t.Error("another seed gave the same plan")
	}
	got := nemesis.Figures{}
	for _, step := range plan {
		got[step.Fault]++
	}
	for fault, want := range figures {
		if got[fault] != want {
			t.Errorf("%s: %d times, want %d", fault, got[fault], want)
		}
	}
}

func TestMomentsAreDifferentAndRise(t *testing.T) {
	moments := nemesis.Moments(7, 20, 50)
	if len(moments) != 20 || !slices.IsSorted(moments) || len(slices.Compact(slices.Clone(moments))) != 20 || moments[19] >= 50 {
		t.Errorf("moments are %v", moments)
	}
	if !slices.Equal(moments, nemesis.Moments(7, 20, 50)) {
		t.Error("the same seed gave other moments")
	}
}

func TestFiguresAreScaledToTheTime(t *testing.T) {
	for _, c := range []struct {
		time         string
		effort       nemesis.Effort
		stated, want int
	}{
		{"full", nemesis.Effort{Time: nemesis.Full}, 20, 20},
		{"a fifteenth, rounded up", nemesis.Effort{Time: nemesis.Full / 15}, 20, 2},
		{"next to nothing", nemesis.Effort{Time: 1}, 20, 1},
		{"twice", nemesis.Effort{Time: 2 * nemesis.Full}, 5000, 10_000},
	} {
		if got := c.effort.Of(c.stated); got != c.want {
			t.Errorf("%s: %d, want %d", c.time, got, c.want)
		}
	}
}
