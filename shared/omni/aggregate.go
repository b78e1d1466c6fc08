package omni

import (
	"cmp"
	"errors"
	"maps"
	"slices"
)

// Aggregator puts the fragments of a stream together into complete messages (S1, 流式纪律; facts 1.5). Fragments belong together that have the same
// type and tool_call_id, and the same origin. It is generous: a delta or a stop without a start opens a fragment itself, a start where one is open
// completes that, of images the newest set counts, of names and stop reasons the newest that is not empty. The zero Aggregator is ready; it is not
// safe for concurrent use.
type Aggregator struct {
	open  map[strand]*fragment
	begun int
	limit int // bytes of the content of a fragment; 0 is maxContent
}

// Add takes the next message of the stream and returns the messages that it completes: that of its fragment for a stop, that of the fragment before
// it for a start. They have the time of the newest piece, and no fidelity, which fragments do not carry. A complete message is the end of the
// fragment that it belongs to, without one being made; all other messages complete nothing.
//
// Errors are ErrPayload for a fragment that cannot be read, and ErrTooLarge for one with which the whole would be too large; it is left out then, and what went before is not.
func (a *Aggregator) Add(m Message) ([]Message, error) {
	p, streamed, err := pieceOf(m)
	if err != nil || !streamed {
		return nil, err
	}
	if !m.IsPartial() {
		delete(a.open, p.strand)
		return nil, nil
	}
	var done []Message
	if p.event == Start && a.open[p.strand] != nil {
		done, err = a.complete(done, p.strand)
	}
	f := a.fragmentOf(p.strand)
	if len(f.content)+len(p.content) > cmp.Or(a.limit, maxContent) {
		err = errors.Join(err, ErrTooLarge)
	} else {
		f.add(p, m)
	}
	if p.event != Stop {
		return done, err
	}
	done, wrong := a.complete(done, p.strand)
	return done, errors.Join(err, wrong)
}

// maxContent leaves room for what is put around the content.
const maxContent = MaxBytes / 2

// Flush completes the fragments that are open, in the order in which they began. Each has the stop reason that was last said of it, and is completed
// if none was.
func (a *Aggregator) Flush() ([]Message, error) {
	var done []Message
	var failed error
	open := slices.SortedFunc(maps.Values(a.open), func(x, y *fragment) int { return cmp.Compare(x.number, y.number) })
	for _, f := range open {
		var err error
		done, err = a.complete(done, f.strand)
		failed = errors.Join(failed, err)
	}
	return done, failed
}

func (a *Aggregator) fragmentOf(s strand) *fragment {
	if a.open[s] == nil {
		if a.open == nil {
			a.open = map[strand]*fragment{}
		}
		a.begun++
		a.open[s] = &fragment{strand: s, number: a.begun}
	}
	return a.open[s]
}

// complete closes a fragment and appends its message.
func (a *Aggregator) complete(done []Message, s strand) ([]Message, error) {
	f := a.open[s]
	delete(a.open, s)
	m, err := build(f.timestamp, f.payload())
	if err != nil {
		return done, err
	}
	for _, session := range slices.Backward(f.via) {
		if m, err = m.WithOrigin(session); err != nil {
			return done, err
		}
	}
	return append(done, m), nil
}
