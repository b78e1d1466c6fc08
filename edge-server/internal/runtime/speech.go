package runtime

import (
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/redact"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// maxHeldBack bounds the blocks, and the sources, whose last bytes are held back at once: agents number their blocks themselves, and name their
// sub-agents.
const maxHeldBack = 64

// speech is the text of one turn on its way out, without secrets. What may be the beginning of a secret is held back until its block goes on, its
// message ends or the turn does, whatever else is said meanwhile: an agent may cut a secret over two lines and say anything between them.
//
// Text is redacted twice: each block by itself, and then each source as its blocks come, since a message is its pieces joined.
type speech struct {
	secrets *redact.Redactor
	say     func(run.Delta)
	blocks  passages
	whole   passages // one for each source that holds something back
}

// maxPiece is how much of a text is worked on at once, in bytes: each step copies it.
const maxPiece = 64 << 10

// add takes the next piece of a block.
func (s *speech) add(d run.Delta) {
	rest, end := d.Text, run.Delta{Channel: d.Channel, Apart: d.Apart, Block: d.Block, Agent: d.Agent, Last: d.Last, Fidelity: d.Fidelity}
	d.Last, d.Fidelity = false, event.Fidelity{}
	for len(rest) > maxPiece {
		end := maxPiece
		for end > maxPiece-utf8.UTFMax && !utf8.RuneStart(rest[end]) {
			end--
		}
		d.Text = rest[:end]
		s.take(d)
		rest = rest[end:]
	}
	d.Text = rest
	if end.Last && s.secrets.Idle() {
		d.Last, d.Fidelity = true, end.Fidelity
		s.say(d)
		return
	}
	s.take(d)
	switch {
	case !end.Last:
	case d.Channel == run.Output:
		s.endOf(d.Agent)
		s.say(end)
	default:
		s.flush(func(p *passage) bool { return p.source == sourceOf(end) })
		s.say(end)
	}
}

func (s *speech) take(d run.Delta) {
	if s.secrets.Idle() {
		s.say(d)
		return
	}
	from := sourceOf(d)
	p := s.blocks.take(func(p *passage) bool { return p.source == from && p.block == d.Block })
	if p == nil {
		p = &passage{source: from, block: d.Block, text: s.secrets.Stream()}
	}
	s.join(*p, p.text.Push(d.Text))
	if !p.text.Undecided() {
		return
	}
	if oldest := s.blocks.hold(p); oldest != nil {
		s.join(*oldest, redact.Mask) // the beginning of a secret whose end may still come is said as if it were the whole
	}
}

// join says the next text of a block's source.
func (s *speech) join(block passage, text string) {
	if text == "" {
		return
	}
	p := s.whole.take(func(p *passage) bool { return p.source == block.source })
	if p == nil {
		p = &passage{source: block.source, text: s.secrets.Stream()}
	}
	p.block = block.block
	s.utter(*p, p.text.Push(text))
	if !p.text.Undecided() {
		return
	}
	if oldest := s.whole.hold(p); oldest != nil {
		s.utter(*oldest, redact.Mask)
	}
}

func (s *speech) utter(p passage, text string) {
	if text != "" {
		s.say(p.delta(text))
	}
}

// end says what is still held back: nothing follows that could complete it.
func (s *speech) end() { s.flush(func(*passage) bool { return true }) }

// endOf is end for what one agent has said.
func (s *speech) endOf(agent event.SubAgent) {
	s.flush(func(p *passage) bool { return p.agent == agent })
}

func (s *speech) flush(these func(*passage) bool) {
	for p := s.blocks.take(these); p != nil; p = s.blocks.take(these) {
		s.join(*p, p.text.Flush())
	}
	for p := s.whole.take(these); p != nil; p = s.whole.take(these) {
		s.utter(*p, p.text.Flush())
	}
}
