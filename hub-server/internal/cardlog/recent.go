package cardlog

import (
	"sync"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// recentBytes is how much of a trace's end is kept for those who watch it.
const recentBytes = 256 << 10

// recent is the last frames of a trace as this hub has stored them: all of its watchers here read the same. Safe for concurrent use.
type recent struct {
	mu     sync.Mutex
	trace  id.Trace
	frames []cards.Frame // without a hole; not changed once they are here
	bytes  int
	drops  int // how often forget was called
}

// dropped is how often forget was called: whoever stores frames asks before.
func (r *recent) dropped() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.drops
}

// add keeps frames that were stored, and forgets old ones. Frames that may have been changed since they were stored, as forget was called, are not kept.
func (r *recent) add(trace id.Trace, frames []cards.Frame, drops int) {
	if len(frames) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.drops != drops {
		return
	}
	if last := len(r.frames) - 1; r.trace != trace || last >= 0 && r.frames[last].Seq+1 != frames[0].Seq {
		r.trace, r.frames, r.bytes = trace, nil, 0
	}
	for _, f := range frames {
		r.frames, r.bytes = append(r.frames, f), r.bytes+len(f.Bytes)
	}
	old := 0
	for ; r.bytes > recentBytes && old < len(r.frames)-1; old++ {
		r.bytes -= len(r.frames[old].Bytes)
	}
	r.frames = append([]cards.Frame(nil), r.frames[old:]...)
}

// forget drops all of it: some of it is not as it is stored any more.
func (r *recent) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frames, r.bytes = nil, 0
	r.drops++
}

// after returns frames behind a number, at least one and then about so many bytes; false if the first of them is not here.
func (r *recent) after(trace id.Trace, after card.Seq, bytes int) ([]cards.Frame, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trace != trace || len(r.frames) == 0 || after+1 < r.frames[0].Seq || after >= r.frames[len(r.frames)-1].Seq {
		return nil, false
	}
	from := int(after + 1 - r.frames[0].Seq) //nolint:gosec // not more than there are frames
	to := from
	for room := bytes; to < len(r.frames) && (to == from || room > 0); to++ {
		room -= len(r.frames[to].Bytes)
	}
	return r.frames[from:to:to], true
}
