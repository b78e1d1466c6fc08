// Package board is the full screen of the terminal client without a terminal: it takes what the hub tells and what is typed, says what is to be done
// about it, and draws what is seen. Package tui is the shell around it.
package board

import (
	"cmp"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

// Options say whose board it is and how it looks.
type Options struct {
	Me    client.UserID
	Style screen.Style
	Zone  *time.Location // of the times that are shown
	Now   func() time.Time
}

// focus is what keys go to.
type focus uint8

const (
	onList focus = iota
	onBody
	onComposer
	onQuestion
	onHits
)

// Board is the state of the screen. One goroutine at a time.
type Board struct {
	options Options
	width   int
	height  int
	focus   focus
	blurred bool      // the terminal says that nobody looks at it
	tells   bool      // it does say such things
	touched time.Time // when a key was pressed last

	rooms     map[client.SessionID]*room
	names     map[client.MemberID]string
	open      client.SessionID // the conversation that is shown; "" before the first
	cursor    client.SessionID // the one that the list points at
	filter    string           // only conversations whose name has it
	questions []question       // that are open, the oldest first
	recent    []client.SessionID
	stamp     int // grows when names change: whatever was laid out before is out of date

	link  link
	flash flash
	field *field // what is asked for in the bottom line, if anything
	help  bool   // the keys are shown
	hits  *hits  // what was found, if that is shown
}

// flash is something to say once.
type flash struct {
	text string
	bad  bool
}

// New returns an empty board of 80 by 24 cells.
func New(options Options) *Board {
	if options.Zone == nil {
		options.Zone = time.Local
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Board{
		options: options, touched: options.Now(), width: 80, height: 24, rooms: map[client.SessionID]*room{}, names: map[client.MemberID]string{},
	}
}

// Resize says how many cells there are. Fewer than 20 by 6 are taken as that.
func (b *Board) Resize(width, height int) []Effect {
	b.width, b.height = max(width, 20), max(height, 6)
	return b.look()
}

// Look says whether somebody looks at the terminal: only then is something read. With a terminal that never says so, somebody does who has pressed
// a key lately.
func (b *Board) Look(looking bool) []Effect {
	b.blurred, b.tells = !looking, true
	return b.look()
}

// Say shows something until the next key.
func (b *Board) Say(text string) { b.flash = flash{text: text} }

// Fail shows what went wrong until the next key.
func (b *Board) Fail(what string, err error) {
	b.flash = flash{text: what + ": " + err.Error(), bad: true}
}

// room returns a conversation, made if it is new.
func (b *Board) room(id client.SessionID) *room {
	r := b.rooms[id]
	if r == nil {
		r = newRoom(id)
		b.rooms[id] = r
	}
	return r
}

// current is the conversation that is shown; nil if none is.
func (b *Board) current() *room { return b.rooms[b.open] }

// name is what people call somebody.
func (b *Board) name(id client.MemberID) string {
	if name := b.names[id]; name != "" {
		return name
	}
	const enough = 13 // the kind and some digits
	if len(id) > enough {
		return id[:enough] + "…"
	}
	return id
}

func (b *Board) learn(members []client.SessionMember) {
	for _, m := range members {
		if m.Name != "" && b.names[m.MemberID] != m.Name {
			b.names[m.MemberID] = m.Name
			b.stamp++
		}
	}
}

// listed are the conversations in the order in which they are shown: pinned ones first, archived ones last, else the newest first.
func (b *Board) listed() []*room {
	var all []*room
	for _, r := range b.rooms {
		if r.created && b.matches(r) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(x, y *room) int {
		return cmp.Or(first(x.info.Pinned, y.info.Pinned), first(!x.info.Archived, !y.info.Archived), y.changed.Compare(x.changed), cmp.Compare(x.id, y.id))
	})
	return all
}

// first orders what has a property before what has not.
func first(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

// maxRecent is of how many conversations messages are kept.
const maxRecent = 8

// enter shows a conversation.
func (b *Board) enter(id client.SessionID) []Effect {
	if b.rooms[id] == nil {
		return nil
	}
	b.open, b.cursor = id, id
	b.recent = append(slices.DeleteFunc(b.recent, func(x client.SessionID) bool { return x == id }), id)
	if len(b.recent) > maxRecent {
		if old := b.rooms[b.recent[0]]; old != nil {
			old.forget()
		}
		b.recent = b.recent[1:]
	}
	return append(b.load(b.rooms[id]), b.look()...)
}

// load asks for the newest messages of a conversation that has none yet.
func (b *Board) load(r *room) []Effect {
	if r.loaded || r.loading {
		return nil
	}
	r.loading = true
	return []Effect{Fetch{Session: r.id}}
}

// look marks as read what is in front of somebody.
func (b *Board) look() []Effect {
	r := b.current()
	if r == nil || !b.watched() || !b.link.live() || !b.bodyShown() || !r.loaded || r.detached || r.anchor.key != "" || r.last <= r.read || r.marking != 0 {
		return nil
	}
	r.marking = r.last
	return []Effect{MarkRead{Session: r.id, Seq: r.last}}
}

// lately is for how long somebody counts as looking who has pressed a key.
const lately = 5 * time.Minute

func (b *Board) watched() bool {
	if b.tells {
		return !b.blurred
	}
	return b.options.Now().Sub(b.touched) < lately
}

// bodyShown says whether the conversation is on the screen.
func (b *Board) bodyShown() bool { return b.hits == nil && (b.wide() || b.focus != onList) }

// wide says whether list and conversation stand side by side.
func (b *Board) wide() bool { return b.width >= 70 }
