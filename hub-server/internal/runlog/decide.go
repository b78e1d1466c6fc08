package runlog

import (
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// What is prepared outside of a transaction is held against the record inside of it. These are the decisions; a store reads what they take,
// under the locks of the transaction, and writes what they give.

// LaneNow is a lane as a store has it.
type LaneNow struct {
	Watermark wire.ProducerSeq
	Chain     wire.Chain
	Held      bool // the fence of the connection that asks is the one in force, and on this lane
}

// Meets says whether the frame was prepared for the lane as it is: then all of its rows may be applied. Otherwise nothing may, and res says why.
func (f LaneFrame) Meets(now LaneNow) (res LaneResult, ok bool) {
	res = LaneResult{Watermark: now.Watermark, Chain: now.Chain}
	switch {
	case !now.Held:
		res.Fenced = true
		return res, false
	case now.Watermark != f.Lane.Watermark:
		// The frame was committed by a call whose answer was lost, or it was prepared for another state.
		res.Rewind = now.Watermark < f.Last()
		return res, false
	}
	return LaneResult{Watermark: f.Last(), Chain: f.Chain}, true
}

// Extend appends to a log that still ends at last; false if it has moved.
func (h Head) Extend(last EventSeq, entries []Entry) (*Growth, bool) {
	if h.Last != last {
		return nil, false
	}
	g := h.Grow()
	for _, e := range entries {
		g.Append(e)
	}
	return g, true
}

// Settle applies a reply to a question that is still pending, in a run that is still where the reply was prepared for: the first one wins.
func (h Head) Settle(r Reply) (*Growth, bool) {
	if !h.waits(r.Request) || !r.Fits(h) {
		return nil, false
	}
	g := h.Grow()
	g.Append(r.Settled)
	if r.Next != nil {
		g.end(*r.Next)
	}
	return g, true
}

// Succeed ends a run in favour of the one that goes on with its answers, if it is where s was prepared for.
func (h Head) Succeed(s Succession) (*Growth, bool) {
	if h.Last != s.Run.LastEventSeq || len(h.Pending) > 0 {
		return nil, false
	}
	g := h.Grow()
	g.end(s)
	return g, true
}

func (g *Growth) end(s Succession) {
	g.Continued = true
	for _, e := range s.Ended {
		g.Append(e)
	}
}

// Meets says whether the cancellation was prepared for the run as it is.
func (c Cancellation) Meets(h Head) bool {
	return c.aims(h) && h.Cancellable() && (!h.ProcessEnded || h.Last == c.Last)
}

// Anyway says whether the run is interrupted: it stays so, but its edge, which may still work on it, is told to stop.
func (c Cancellation) Anyway(h Head) bool { return c.aims(h) && h.State == run.StateInterrupted }

func (c Cancellation) aims(h Head) bool { return h.Edge == c.Edge && h.Lease == c.Lease }

// Unheard says whether nobody is left at an edge who could stop: the run waits for one, or its process has ended.
func (c Cancellation) Unheard(h Head) bool { return c.Edge == "" || h.ProcessEnded }

// Apply asks the run to stop. One that is unheard, or whose start was withdrawn, ends at once; for any other there is c.Command.
func (c Cancellation) Apply(h Head, unheard bool) *Growth {
	g := h.Grow()
	g.Append(c.Asked)
	if unheard {
		for _, e := range c.Withdrawn {
			g.Append(e)
		}
	}
	return g
}
