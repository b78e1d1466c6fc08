package talk

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// place is how far the client has been told the trace.
type place struct {
	after card.Seq
	turn  uint64 // raised when the client goes somewhere else

	// Of a resume that names cards: appends up to these numbers are known to the client (R30).
	known map[string]card.Seq
	until card.Seq // … among the frames up to here
}

func (p *place) begin(after card.Seq) {
	*p = place{after: after, turn: p.turn + 1}
}

// Range is a stretch of a trace to be read.
type Range struct {
	Trace id.Trace
	After card.Seq
	turn  uint64
}

// Step is what is to be done next for what the client hears: frames to be written, or else, once these are, a page to be read. Neither: nothing.
type Step struct {
	Say  [][]byte
	Read *Range
}

// Next returns it.
func (t *Talk) Next() Step {
	if len(t.said.frames) > 0 {
		frames := t.said.frames
		t.said.drop()
		return Step{Say: frames}
	}
	if t.phase != open {
		return Step{}
	}
	return Step{Read: &Range{Trace: t.at.Trace, After: t.place.after, turn: t.place.turn}}
}

// Took says what was read of a range, and returns the frames to be written. A client that has gone elsewhere meanwhile gets none of it.
func (t *Talk) Took(r Range, frames []cards.Frame) (say [][]byte) {
	p := &t.place
	if t.phase != open || r.turn != p.turn {
		return nil
	}
	for _, f := range frames {
		p.after = f.Seq
		if !p.knows(f) {
			say = append(say, f.Bytes)
		}
	}
	if p.after >= p.until {
		p.known = nil
	}
	return say
}

// knows says whether a frame is an append that the client has.
func (p *place) knows(f cards.Frame) bool {
	if len(p.known) == 0 || f.Seq > p.until {
		return false
	}
	var head struct {
		Type     card.Type `json:"type"`
		Envelope struct {
			CardID string `json:"card_id"`
		} `json:"envelope"`
	}
	if json.Unmarshal(f.Bytes, &head) != nil || head.Type != card.Append {
		return false
	}
	known, some := p.known[head.Envelope.CardID]
	return some && f.Seq <= known
}
