package sqlstore

import (
	"context"
	"flag"
	"math/rand/v2"
	"testing"
	"time"
)

// The figures of promises P4, P7, P10 and P11, or less with the race detector and where a figure takes long: `make faults` and `make soak` ask
// for those that docs/guarantees.md states.
var (
	writeFor      = flag.Duration("write-for", 0, "how long the writers of P4 and P7 write; 0: a fixed number of transactions")
	logs          = flag.Int("logs", 64, "the runs that the 16 writers of P4 write")
	promptCrashes = flag.Int("prompt-crashes", 300/share, "how often a hub is killed around a question (P10)")
	seed          = flag.Uint64("seed", 0, "what is done at random (P1, P4, P7, P10); 0: something new, which is printed")
	questions     = flag.Int("questions", 500/share, "how many questions are answered by many at once (P11)")
)

// chance is what a test does at random. All of it follows from the seed: whatever goes on beside it takes a part of its own.
type chance struct{ seed uint64 }

// chanceOf is what the flag says, or something new, and prints how to have it again.
func chanceOf(t *testing.T) chance {
	t.Helper()
	c := chance{*seed}
	if c.seed == 0 {
		c.seed = uint64(time.Now().UnixNano())
	}
	t.Logf("again with: go test ./internal/sqlstore -run '^%s$' -seed %d -write-for %s -logs %d -prompt-crashes %d",
		t.Name(), c.seed, *writeFor, *logs, *promptCrashes)
	return c
}

// part returns the numbers of one of several goroutines.
func (c chance) part(n int) *rand.Rand { return rand.New(rand.NewPCG(c.seed, uint64(n))) }

// span is a stretch of work.
type span struct {
	steps int       // if there is no end
	until time.Time // zero: after so many steps
}

// spanOf is the stretch that the flags ask for: a number of steps, or a time.
func spanOf(steps int) span {
	if *writeFor == 0 {
		return span{steps: steps}
	}
	return span{until: time.Now().Add(*writeFor)}
}

// each calls f until the stretch is over or f says that it cannot go on.
func (s span) each(f func() bool) {
	for step := 0; (s.until.IsZero() && step < s.steps) || time.Now().Before(s.until); step++ {
		if !f() {
			return
		}
	}
}

// readersContext lives long enough to read what is written in a stretch.
func readersContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), *writeFor+time.Minute)
	t.Cleanup(cancel)
	return ctx
}
