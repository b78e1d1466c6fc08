package runtime

import (
	"slices"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/redact"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// maxHeldBack bounds the blocks whose last bytes are held back at once: agents number their blocks themselves.
const maxHeldBack = 64

// speech is the text of one turn on its way out, without secrets. What may be the beginning of a secret is held back until its block goes on or
// the turn ends, whatever else is said meanwhile: an agent may cut a secret over two lines and say anything between them.
//
// Text is redacted twice: each block by itself, and then each channel as its blocks come, since a message is its pieces joined.
type speech struct {
	secrets *redact.Redactor
	say     func(run.Delta)
	blocks  []*passage // those that hold something back, the longest untouched first
	whole   []*passage // one for each channel that was used
}

// passage is a text that is redacted as one. For a whole channel, block is the one that it was in last.
type passage struct {
	channel run.Channel
	block   int
	text    *redact.Stream
}

// maxPiece is how much of a text is worked on at once, in bytes: each step copies it.
const maxPiece = 64 << 10

// add takes the next piece of a block.
func (s *speech) add(d run.Delta) {
	for len(d.Text) > maxPiece {
		end := maxPiece
		for end > maxPiece-utf8.UTFMax && !utf8.RuneStart(d.Text[end]) {
			end--
		}
		s.take(run.Delta{Channel: d.Channel, Block: d.Block, Text: d.Text[:end]})
		d.Text = d.Text[end:]
	}
	s.take(d)
}

func (s *speech) take(d run.Delta) {
	if s.secrets.Idle() {
		s.say(d)
		return
	}
	p := s.block(d)
	s.join(d.Channel, d.Block, p.text.Push(d.Text))
	if p.text.Undecided() {
		s.hold(p)
	}
}

// block takes the passage of a delta off the list, or makes one: a passage that holds nothing back remembers nothing.
func (s *speech) block(d run.Delta) *passage {
	for i, p := range s.blocks {
		if p.channel == d.Channel && p.block == d.Block {
			s.blocks = slices.Delete(s.blocks, i, i+1)
			return p
		}
	}
	return &passage{channel: d.Channel, block: d.Block, text: s.secrets.Stream()}
}

// hold remembers p. With too many the one that has waited longest is given up: the beginning of a secret whose end may still come is said as if
// it were the whole.
func (s *speech) hold(p *passage) {
	if len(s.blocks) == maxHeldBack {
		oldest := s.blocks[0]
		s.blocks = slices.Delete(s.blocks, 0, 1)
		s.join(oldest.channel, oldest.block, redact.Mask)
	}
	s.blocks = append(s.blocks, p)
}

// join says the next text of a channel.
func (s *speech) join(channel run.Channel, block int, text string) {
	if text == "" {
		return
	}
	i := slices.IndexFunc(s.whole, func(p *passage) bool { return p.channel == channel })
	if i < 0 {
		i = len(s.whole)
		s.whole = append(s.whole, &passage{channel: channel, text: s.secrets.Stream()})
	}
	s.whole[i].block = block
	s.utter(channel, block, s.whole[i].text.Push(text))
}

func (s *speech) utter(channel run.Channel, block int, text string) {
	if text != "" {
		s.say(run.Delta{Channel: channel, Block: block, Text: text})
	}
}

// end says what is still held back: nothing follows that could complete it.
func (s *speech) end() {
	for _, p := range s.blocks {
		s.join(p.channel, p.block, p.text.Flush())
	}
	for _, p := range s.whole {
		s.utter(p.channel, p.block, p.text.Flush())
	}
	s.blocks, s.whole = nil, nil
}
