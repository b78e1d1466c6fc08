package sqlstore

import (
	"context"
	"flag"
	"testing"
	"time"
)

// The figures of promises P4, P7, P10 and P11, or less with the race detector and where a figure takes long: `make faults` and `make soak` ask
// for those that docs/guarantees.md states.
var (
	writeFor      = flag.Duration("write-for", 0, "how long the writers of P4 and P7 write; 0: a fixed number of transactions")
	logs          = flag.Int("logs", 64, "the runs that the 16 writers of P4 write")
	promptCrashes = flag.Int("prompt-crashes", 300/share, "how often a hub is killed around a question (P10)")
	questions     = flag.Int("questions", 500/share, "how many questions are answered by many at once (P11)")
)

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
