package simulator

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// stories is how many are played for every change.
const stories = 1000

var (
	only  = flag.Uint64("seed", 0, "plays the story of this seed alone and prints it")
	seeds = flag.Int("seeds", stories, "how many stories to play: of the seeds 1 to this")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// maxTold is how many lines of a story that went wrong are printed, from its end.
const maxTold = 200

func report(t *testing.T, seed uint64, w *world) {
	t.Helper()
	lines := w.trace.lines
	if *only == 0 {
		lines = lines[max(0, len(lines)-maxTold):]
	}
	t.Errorf("seed %d: %s\nagain with: go test ./internal/simulator -run TestAThousandStories -seed %d\n%s",
		seed, strings.Join(w.wrong, "\n"), seed, strings.Join(lines, "\n"))
}

// Whatever goes wrong in a story, once it is well again everything is as it has to be: see examine.
func TestAThousandStoriesEndWell(t *testing.T) {
	if *only != 0 {
		w := tell(t, *only, honest)
		if len(w.wrong) > 0 {
			report(t, *only, w)
		} else {
			t.Logf("%s\n%d lines, %x", strings.Join(w.trace.lines, "\n"), len(w.trace.lines), w.trace.sum)
		}
		return
	}
	var sum tally
	t.Cleanup(func() { t.Logf("figure: simulator: %d stories: %+v", *seeds, sum.deeds) })
	const shards = 4
	for shard := range shards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			for seed := uint64(shard + 1); seed <= uint64(*seeds) && !t.Failed(); seed += shards {
				w := tell(t, seed, honest)
				sum.add(w.done)
				if len(w.wrong) > 0 {
					report(t, seed, w)
				}
			}
		})
	}
}

// tally adds up over stories that are played at the same time.
type tally struct {
	mu sync.Mutex
	deeds
}

func (s *tally) add(d deeds) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kills, s.pauses, s.cuts = s.kills+d.kills, s.pauses+d.pauses, s.cuts+d.cuts
	s.messages, s.lost, s.doubled = s.messages+d.messages, s.lost+d.lost, s.doubled+d.doubled
	s.rows, s.runs = s.rows+d.rows, s.runs+d.runs
}

// The same seed is the same story, whatever else the machine does.
func TestTheSameSeedIsTheSameStory(t *testing.T) {
	for seed := uint64(1); seed <= 10; seed++ {
		first, second := tell(t, seed, honest), tell(t, seed, honest)
		if first.trace.sum != second.trace.sum {
			t.Errorf("seed %d: %s", seed, difference(first.trace.lines, second.trace.lines))
		}
	}
}

// difference shows where two stories part.
func difference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is %q and %q", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(a), len(b))
}

// Each rule that is broken on purpose is found out within the thousand stories: a check that cannot fail shows nothing.
func TestBrokenRulesAreFoundOut(t *testing.T) {
	for _, c := range []struct {
		broken sabotage
		shown  string // by what is said of it
		first  uint64 // the story to begin with: one that shows it, unless the stories have become others
	}{
		{noWatermark, "was applied again", 10},
		{noFence, "without holding its lane", 216},
		{noTerminalGate, "has 2 outcomes", 87},
		{answersTwice, "was settled 2 times", 126},
		{continuesTwice, "had 2 effects", 528},
		{startsTwice, "processes were started", 11},
		{losesAnswers, "no agent went on with it", 99},
		{skipsOnResume, "was told event", 6},
		{trustsHearsay, "was at hub", 10},
		{trustsTrimmed, "was told event", 16},
	} {
		t.Run(string(c.broken), func(t *testing.T) {
			t.Parallel()
			for n := range uint64(stories) {
				seed := (c.first-1+n)%stories + 1
				w := tell(t, seed, c.broken)
				if i := slices.IndexFunc(w.wrong, func(line string) bool { return strings.Contains(line, c.shown) }); i >= 0 {
					t.Logf("found out by seed %d: %s", seed, w.wrong[i])
					return
				}
			}
			t.Errorf("%d stories and nothing was noticed", stories)
		})
	}
}
