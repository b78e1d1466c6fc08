package omni

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
)

// Checker holds a stream to the rules of S1, for tests and for those who take streams from others. It is given the messages in their order, from the
// first message of the session on. Each origin is a stream of its own: sub-agents speak between the messages of others. After a breach it goes on
// with the best guess, so that one mistake is not told many times. The zero Checker is ready; it is not safe for concurrent use.
type Checker struct {
	sessions map[string]*sessionCheck
	number   int
	message  Message
	found    Breaches
}

// sessionCheck is what is known of the stream of one origin.
type sessionCheck struct {
	origin  []string
	open    map[strand]*openFragment
	stopped *openFragment // the complete message has to follow
	ledger
}

type openFragment struct {
	fragment
	withImages bool
}

// CheckStream holds a whole stream to the rules. The error is Breaches.
func CheckStream(stream []Message) error {
	var c Checker
	var all Breaches
	for _, m := range stream {
		all = append(all, breachesOf(c.Add(m))...)
	}
	if all = append(all, breachesOf(c.End())...); all == nil {
		return nil
	}
	return all
}

func breachesOf(err error) Breaches {
	var found Breaches
	errors.As(err, &found)
	return found
}

// Add takes the next message. The error is Breaches: which rules it broke.
func (c *Checker) Add(m Message) error {
	c.number++
	c.message, c.found = m, nil
	if err := m.Validate(); err != nil {
		c.breach(RuleShape, err.Error())
	}
	s := c.session(m)
	p, streamed, err := pieceOf(m)
	if err != nil {
		return c.told() // it has been named as a problem of its shape
	}
	if stopped := s.stopped; stopped != nil {
		s.stopped = nil
		if !streamed || m.IsPartial() || p.strand != stopped.strand {
			c.breach(RuleFollow, stopped.label()+" has stopped, and another message comes first")
		} else {
			c.compare(stopped, p)
		}
	} else if streamed && !m.IsPartial() {
		c.whole(s, p)
	}
	if streamed && m.IsPartial() {
		c.partial(s, p)
	}
	s.enter(c, m)
	return c.told()
}

// End says what is missing at the end of the stream. The error is Breaches.
func (c *Checker) End() error {
	c.number++
	c.found = nil
	for _, origin := range slices.Sorted(maps.Keys(c.sessions)) {
		s := c.sessions[origin]
		c.message = Message{origin: s.origin}
		if s.stopped != nil {
			c.breach(RuleFollow, s.stopped.label()+" has stopped, and nothing follows")
		}
		c.left(s, func(*openFragment) bool { return true })
		s.end(c)
	}
	return c.told()
}

func (c *Checker) session(m Message) *sessionCheck {
	origin := m.session()
	if c.sessions == nil {
		c.sessions = map[string]*sessionCheck{}
	}
	if c.sessions[origin] == nil {
		c.sessions[origin] = &sessionCheck{origin: m.origin, open: map[strand]*openFragment{}, ledger: newLedger()}
	}
	return c.sessions[origin]
}

// whole takes a complete message that no stop has announced. That is right where there are no fragments of it.
func (c *Checker) whole(s *sessionCheck, p piece) {
	if f := s.open[p.strand]; f != nil {
		delete(s.open, p.strand)
		c.breach(RuleClosed, f.label()+" has not stopped, and its complete message comes")
		c.compare(f, p)
	}
}

func (c *Checker) partial(s *sessionCheck, p piece) {
	f := s.open[p.strand]
	switch {
	case p.event == Start && f != nil:
		c.breach(RuleOneOpen, f.label()+" is open")
		f = nil
	case p.event != Start && f == nil:
		c.breach(RuleStart, "this is a "+string(p.event)+", and nothing is open")
	}
	if f == nil {
		f = &openFragment{fragment: fragment{strand: p.strand, number: c.number}}
		s.open[p.strand] = f
	}
	if p.event != Delta && (len(p.content) > 0 || len(p.images) > 0) {
		c.breach(RuleDeltas, "this is a "+string(p.event)+", and has some")
	}
	if len(p.images) > 0 {
		if f.withImages {
			c.breach(RuleImages, f.label()+" has had images")
		}
		f.withImages = true
	}
	f.add(p, c.message)
	if p.event == Stop {
		delete(s.open, p.strand)
		s.stopped = f
	}
}

// compare holds a complete message to its fragments.
func (c *Checker) compare(f *openFragment, p piece) {
	if f.text() != textOf(p.content) {
		c.breach(RuleContent, contentKeys[p.whole]+" differs")
	}
	if f.name != p.name {
		c.breach(RuleContent, "name differs")
	}
	if !slices.Equal(f.images, p.images) {
		c.breach(RuleContent, "images differ")
	}
	if f.reason.orCompleted() != p.reason.orCompleted() {
		c.breach(RuleReason, string(f.reason.orCompleted())+" there, "+string(p.reason.orCompleted())+" here")
	}
}

// left tells of fragments that are open and of a kind.
func (c *Checker) left(s *sessionCheck, of func(*openFragment) bool) {
	byAge := func(x, y *openFragment) int { return cmp.Compare(x.number, y.number) }
	for _, f := range slices.SortedFunc(maps.Values(s.open), byAge) {
		if of(f) {
			delete(s.open, f.strand)
			c.breach(RuleClosed, f.label()+" is open")
		}
	}
}

func (c *Checker) breach(rule Rule, what string) {
	c.found = append(c.found, Breach{
		Number: c.number, Type: cmp.Or(string(c.message.kind), string(c.message.typ), "end"),
		Origin: strings.Join(c.message.origin, "/"), Rule: rule, What: what,
	})
}

func (c *Checker) told() error {
	if c.found == nil {
		return nil
	}
	return c.found
}

// label is how a breach names a fragment.
func (f *openFragment) label() string {
	if f.call == "" {
		return "the " + string(f.whole)
	}
	return "the " + string(f.whole) + " " + f.call
}
