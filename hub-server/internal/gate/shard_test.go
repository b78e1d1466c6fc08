package gate

import (
	"testing"
	"time"
)

// Little work is done at once, more of it in rounds, and no rest keeps a message for longer than a round.
func TestAShardRestsAsItHasWorked(t *testing.T) {
	const ms = time.Millisecond
	for took, want := range map[time.Duration]time.Duration{
		restAbove - 1: 0, ms: 7 * ms, 3 * ms: 21 * ms, 12 * ms: 12 * ms, 20 * ms: maxRest, time.Second: maxRest,
	} {
		if got := restAfter(took); got != want {
			t.Errorf("after %v it rests for %v, want %v", took, got, want)
		}
	}
}
