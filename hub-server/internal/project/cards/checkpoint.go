package cards

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// version of an encoded state. One of version 1 has no model, one of version 2 no calls of clients' tools and not who works at a
// step, one of version 3 not what was said to a run; any other cannot be read: the reader is too old.
const version = 4

const usualState = 1 << 10 // bytes

// Encode returns the state in its stored form: its first byte is a version, and it holds no text.
func (s *State) Encode() []byte {
	data := s.encode(version)
	s.size = len(data)
	return data
}

func (s *State) encode(version byte) []byte {
	c := &codec{data: append(make([]byte, 0, s.size+s.size/4+usualState), version), version: version}
	c.state(s)
	return c.data
}

// Restore returns the state that Encode has stored. What it returns goes on exactly as the one that was encoded.
func Restore(data []byte) (*State, error) {
	if len(data) == 0 || data[0] < 1 || data[0] > version {
		return nil, fmt.Errorf("%w: not of version 1 to %d", errState, version)
	}
	c := &codec{data: data[1:], reading: true, version: data[0]}
	s := &State{}
	c.state(s)
	return s, c.err()
}

func (c *codec) state(s *State) {
	str(c, &s.trace.ID)
	str(c, &s.trace.Session)
	str(c, &s.trace.Language)
	num(c, &s.trace.Last)
	c.asJSON(&s.trace.IDs, &s.idsForm)
	c.asJSON(&s.names, &s.namesForm)
	num(c, &s.place)
	num(c, &s.turns)
	each(c, &s.topics, func(t *string) { str(c, t) })
	if c.version > 1 {
		str(c, &s.model)
	}
	l := &links{nodes: map[card.Seq]*node{}}
	each(c, &s.threads, func(t **thread) { c.thread(t, l) })
}

// links are what pointers become: a card is its number, a scope and a thread their places.
type links struct {
	nodes   map[card.Seq]*node // read so far; parents stand before what is below them
	threads []*thread
}

func (c *codec) thread(at **thread, l *links) {
	if c.reading {
		*at = &thread{}
	}
	t := *at
	str(c, &t.run)
	c.threadAt(&t.parent, l)
	l.threads = append(l.threads, t)
	num(c, &t.alive)
	c.flag(&t.ended)
	c.flag(&t.cancelling)
	c.metrics(&t.usage)
	each(c, &t.scopes, func(sc **scope) {
		if c.reading {
			*sc = &scope{}
		}
		str(c, &(*sc).name)
		str(c, &(*sc).id)
	})
	each(c, &t.nodes, func(n **node) { c.node(n, t, l) })
	c.nodeAt(&t.root, l)
	for _, sc := range t.scopes {
		c.nodeAt(&sc.card, l)
		c.nodeAt(&sc.message, l)
		c.nodeAt(&sc.thought, l)
	}
	each(c, &t.prompts, func(a **asked) { c.asked(a, t, l) })
	if c.version > 2 {
		each(c, &t.calling, c.calling)
	}
	if c.version > 3 {
		each(c, &t.steers, func(s *id.Steer) { str(c, s) })
	}
}

func (c *codec) metrics(m *card.Metrics) {
	for _, n := range []*int64{&m.TokensIn, &m.TokensOut, &m.CacheReadTokens, &m.CacheWriteTokens} {
		num(c, n)
	}
	c.float(&m.CostUSD)
	str(c, &m.Model)
	c.amount(&m.BudgetSpent)
	c.amount(&m.BudgetLimit)
}

func (c *codec) amount(at **card.Amount) {
	there := *at != nil
	c.flag(&there)
	if !there {
		return
	}
	if c.reading {
		*at = &card.Amount{}
	}
	num(c, &(*at).Tokens)
	c.float(&(*at).USD)
	num(c, &(*at).Calls)
}

func (c *codec) node(at **node, t *thread, l *links) {
	if c.reading {
		*at = &node{thread: t}
	}
	n := *at
	num(c, &n.seq)
	if c.reading {
		l.nodes[n.seq] = n
	}
	str(c, &n.id)
	str(c, &n.ref)
	str(c, &n.kind)
	c.nodeAt(&n.parent, l)
	c.scopeAt(&n.scope, t)
	num(c, &n.kids)
	c.flag(&n.open)
	c.flag(&n.orphaned)
	for _, ms := range []*int64{&n.began, &n.active, &n.timeout, &n.progress, &n.heartbeat, &n.text.bytes} {
		num(c, ms)
	}
	num(c, &n.text.hash)
	num(c, &n.text.block)
	str(c, &n.text.links.Held)
	c.flag(&n.text.links.Beside)
	str(c, &n.title)
	if c.version > 2 {
		c.flag(&n.queued)
		str(c, &n.worker)
	}
	each(c, &n.artifacts, c.artifact)
}

func (c *codec) artifact(a *card.ArtifactRef) {
	for _, word := range []*string{&a.ArtifactID, &a.Name, &a.Type, &a.MIMEType, &a.Description, &a.Role} {
		str(c, word)
	}
	num(c, &a.SizeBytes)
}

func (c *codec) asked(at **asked, t *thread, l *links) {
	if c.reading {
		*at = &asked{}
	}
	a := *at
	str(c, &a.request)
	c.scopeAt(&a.scope, t)
	c.nodeAt(&a.tool, l)
	if c.version > 2 {
		c.flag(&a.client)
	}
}

func (c *codec) calling(at *calling) {
	for _, word := range []*string{&at.ref, &at.name, &at.intent} {
		str(c, word)
	}
}

// nodeAt describes a reference to a card that stands before it; 0 is none.
func (c *codec) nodeAt(n **node, l *links) {
	var seq card.Seq
	if *n != nil {
		seq = (*n).seq
	}
	num(c, &seq)
	if !c.reading || seq == 0 {
		return
	}
	if *n = l.nodes[seq]; *n == nil {
		c.failed = true
	}
}

// scopeAt describes a reference to a scope of t.
func (c *codec) scopeAt(sc **scope, t *thread) {
	var place int
	for i, other := range t.scopes {
		if other == *sc {
			place = i
		}
	}
	num(c, &place)
	if !c.reading {
		return
	}
	if place < 0 || place >= len(t.scopes) {
		c.failed = true
		*sc = &scope{}
		return
	}
	*sc = t.scopes[place]
}

// threadAt describes a reference to a thread that stands before; 0 is none.
func (c *codec) threadAt(t **thread, l *links) {
	var place int
	for i, other := range l.threads {
		if other == *t {
			place = i + 1
		}
	}
	num(c, &place)
	switch {
	case !c.reading || place == 0:
	case place < 0 || place > len(l.threads):
		c.failed = true
	default:
		*t = l.threads[place-1]
	}
}
