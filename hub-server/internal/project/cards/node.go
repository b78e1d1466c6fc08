package cards

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// node is a card that is open, or still needed.
type node struct {
	id     string
	ref    string // the name that facts have for it
	kind   card.Kind
	parent *node
	scope  *scope
	thread *thread
	seq    card.Seq // of its card.add
	kids   int      // cards below it that are remembered

	open     bool
	orphaned bool  // closed by the watchdog: its real end may follow
	began    int64 // ms since 1970, by the clock of who says so
	active   int64 // ms since 1970, by the hub's clock: the last sign of life of it or of a card below it
	timeout  int64 // ms that it may be silent, 0 for ever

	progress, heartbeat int64 // ms since 1970 of the last tick of the kind

	title     string             // of a tool
	queued    bool               // a step that waits for its turn
	worker    string             // of a step: which kind of agent carries it out; "" if no fact has said
	text      prose              // of a message or a thinking card
	artifacts []card.ArtifactRef // that appeared below it
}

func (n *node) handle() card.Ref {
	ref := card.Ref{ID: n.id, Kind: n.kind}
	if n.parent != nil {
		ref.Parent = n.parent.id
	}
	return ref
}

// builder makes the events of an agent.
func (s *State) builder(sc *scope, t *thread) card.Builder {
	b := s.trace.At(s.at, t.run)
	if sc.id != card.MainAgent {
		b = b.Sub(sc.id, card.Worker)
	}
	return b
}

func (n *node) builder(s *State) card.Builder { return s.builder(n.scope, n.thread) }

// depth counts a card and those above it; 0 for nil.
func (n *node) depth() int {
	d := 0
	for ; n != nil; n = n.parent {
		d++
	}
	return d
}

// newID is the id of the card that the next event adds; own is what facts call it, or "".
func (s *State) newID(kind card.Kind, own string) string {
	s.idsForm = nil
	return s.trace.At(s.at, "").NewID(kind, own)
}

// tell adds an event to the trace.
func (s *State) tell(e card.Event) {
	line, err := e.Encode()
	if err != nil { // a raw value that is not JSON: it cannot have been committed, but the number is taken
		e.Payload = json.RawMessage(`{}`)
		line, _ = e.Encode() //nolint:errcheck // nothing is left that could fail
	}
	s.out = append(s.out, Frame{Seq: e.Envelope.Seq, Bytes: line})
}

// open adds a card and remembers it; own is what facts call it. parent is nil at the root.
func (s *State) open(sc *scope, t *thread, kind card.Kind, own string, parent *node, payload any, hint *card.Hint) *node {
	n := &node{id: s.newID(kind, own), ref: own, kind: kind}
	return s.openAs(n, sc, t, parent, payload, hint)
}

// openAs is open for a card that has its id already.
func (s *State) openAs(n *node, sc *scope, t *thread, parent *node, payload any, hint *card.Hint) *node {
	if parent.depth() >= deepest {
		parent = t.root
	}
	n.scope, n.thread, n.parent, n.open = sc, t, parent, true
	n.began, n.seq = s.at.UnixMilli(), s.trace.Last+1
	n.timeout = card.Lookup(n.kind).Timeout.Milliseconds()
	if parent != nil {
		parent.kids++
	}
	t.nodes = append(t.nodes, n)
	s.crowd(t)
	s.tell(n.builder(s).Add(n.handle(), payload, hint))
	s.renew(n)
	return n
}

// set changes fields of a card. One that was closed is open again: its end is to come.
func (s *State) set(n *node, payload any) {
	n.open, n.orphaned = true, false
	s.tell(n.builder(s).Set(n.handle(), payload))
	s.renew(n)
}

// append adds to a channel of a card. One that was closed is open again, as by set.
func (s *State) append(n *node, channel card.Channel, index int, text string) {
	n.open, n.orphaned = true, false
	s.tell(n.builder(s).Append(n.handle(), channel, index, text))
	s.renew(n)
}

// close ends a card, or ends it once more: the last end counts (facts 0.5).
func (s *State) close(n *node, end card.End) {
	switch n.kind {
	case card.Message:
		s.flush(n)
	case card.Thinking:
		end.Inner = card.ThinkingPayload{Length: int(n.text.bytes)}
	}
	n.open, n.orphaned = false, false
	s.end(n, end)
	s.renew(n)
	n.thread.forgetCards()
}

// end tells of an end, and how long it took to get there.
func (s *State) end(n *node, end card.End) {
	metrics := card.Metrics{}
	if end.Metrics != nil {
		metrics = *end.Metrics
	}
	metrics.DurationMS = max(0, s.at.UnixMilli()-n.began)
	if end.Metrics = &metrics; metrics == (card.Metrics{}) {
		end.Metrics = nil
	}
	end.Inner = something(end.Inner)
	s.tell(n.builder(s).Close(n.handle(), end))
}

// something is the inner object of an end, nil for one that says nothing.
func something(inner any) any {
	body, err := event.Encode(inner)
	if err != nil || len(body) <= len(`{}`) || string(body) == "null" {
		return nil
	}
	return body
}

// show adds a card that is closed at once: it tells of something that has happened.
func (s *State) show(sc *scope, t *thread, kind card.Kind, own string, parent *node, payload any) {
	b := s.builder(sc, t)
	ref := card.Ref{ID: s.newID(kind, own), Kind: kind, Parent: parent.id}
	s.tell(b.Add(ref, payload, nil))
	s.tell(b.Close(ref, card.End{Status: card.OK}))
	s.renew(parent)
}

// renew is a sign of life of a card and all above it, whether they are open or not (facts 0.5).
func (s *State) renew(n *node) {
	for now := s.recorded.UnixMilli(); n != nil; n = n.parent {
		n.active = max(n.active, now)
	}
}

// failure tells why something failed.
func (s *State) failure(e event.ErrorObj) *card.ErrorInfo {
	info := card.ErrorOf(e, s.trace.Language)
	return &info
}

// read is the payload of an event; false if it has another shape than its type says: then it shows nothing.
func read[P any](f Fact) (P, bool) {
	var p P
	return p, json.Unmarshal(f.Payload, &p) == nil
}
