package frames

import (
	"sync"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Limits of what is read beyond the events that were asked for, and of what is kept of it.
const (
	aheadEvents = 64
	aheadBytes  = 512 << 10 // of payloads, per run
	aheadRuns   = 32
)

// ahead keeps events that were read beyond those that were asked for: whoever catches up asks for them next. Committed events never change,
// so what is kept cannot be out of date. Safe for concurrent use.
type ahead struct {
	mu   sync.Mutex
	runs map[id.Run][]runlog.StoredEvent // consecutive
}

// take returns the events from..to of a run if all of them are kept.
func (a *ahead) take(run id.Run, from, to runlog.EventSeq) ([]runlog.StoredEvent, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := a.runs[run]
	if len(kept) == 0 || from < kept[0].Seq || to > kept[len(kept)-1].Seq {
		return nil, false
	}
	first := from - kept[0].Seq
	return kept[first : to-kept[0].Seq+1], true
}

// keep remembers consecutive events of a run in place of those it had.
func (a *ahead) keep(run id.Run, events []runlog.StoredEvent) {
	size := 0
	for i, e := range events {
		if size += len(e.Payload); size > aheadBytes {
			events = events[:i]
			break
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.runs == nil || len(a.runs) >= aheadRuns {
		a.runs = map[id.Run][]runlog.StoredEvent{}
	}
	a.runs[run] = events
}
