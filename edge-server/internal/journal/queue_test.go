package journal

import (
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"pgregory.net/rapid"
)

func waiting(r id.Run, size int) *entry {
	return &entry{
		origin: Origin{Scope: event.Scope{RunID: r}}, size: size,
		event: run.Candidate{Type: event.SessionState, Payload: event.SessionStatePayload{State: "s"}},
	}
}

// Groups are bounded, keep the order of each run, lose nothing, and no run waits for more than a turn of every other.
func TestGroupsAreFairAndBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var q queue
		pushed := map[id.Run][]*entry{}
		for _, r := range []id.Run{"run_a", "run_b", "run_c"} {
			for range rapid.IntRange(0, 600).Draw(rt, "entries") {
				e := waiting(r, rapid.IntRange(1, 8<<10).Draw(rt, "size"))
				q.push(e)
				pushed[r] = append(pushed[r], e)
			}
		}
		for !q.empty() {
			group := q.take()
			if len(group) == 0 || len(group) > maxGroup+turn {
				rt.Fatalf("group of %d", len(group))
			}
			streak := 0
			for i, e := range group {
				r := e.origin.Scope.RunID
				if pushed[r][0] != e {
					rt.Fatalf("%s is out of order", r)
				}
				pushed[r] = pushed[r][1:]
				if streak++; i > 0 && group[i-1].origin.Scope.RunID != r {
					streak = 1
				}
				if streak > turn && othersWait(group[i:], pushed, r) {
					rt.Fatalf("%s has %d entries in a row while others wait", r, streak)
				}
			}
		}
		if q.waiting != 0 {
			rt.Fatalf("%d entries are said to wait", q.waiting)
		}
		for r, left := range pushed {
			if len(left) > 0 {
				rt.Fatalf("%s has lost %d entries", r, len(left))
			}
		}
	})
}

// othersWait says whether a run other than r still has something in the rest of the group or behind it.
func othersWait(rest []*entry, pushed map[id.Run][]*entry, r id.Run) bool {
	for other, left := range pushed {
		if other != r && len(left) > 0 {
			return true
		}
	}
	for _, e := range rest {
		if e.origin.Scope.RunID != r {
			return true
		}
	}
	return false
}
