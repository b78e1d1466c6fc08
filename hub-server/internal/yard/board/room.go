package board

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

const (
	maxKept  = 1000 // messages of a conversation that are in memory
	maxEnded = 50   // runs of a conversation that have ended, and are still shown
)

// room is a conversation.
type room struct {
	id      client.SessionID
	info    client.SessionCreatedPayload
	created bool // it is known to be one of this user's
	listed  bool // the record has had it
	closed  bool // dissolved
	changed time.Time

	last    client.SeqID // the newest message's number
	read    client.SeqID // up to where it was read
	marking client.SeqID // up to where that is being told; 0 if it is not
	counted int64        // messages that are unread by the count that all devices have
	counts  bool         // there is such a count

	messages []*message // in order
	runs     []*run     // in the order of their beginning
	loaded   bool       // messages has the newest ones, or had when detached began
	loading  bool       // some were asked for
	whole    bool       // there are none before the first
	detached bool       // those behind the last were forgotten, to make room for older ones

	target   client.SeqID // the message that was jumped to, until it is there
	anchor   anchor       // where the screen stands; at the end if it has no key
	selected string       // key of an item; "" for none

	draft   editor
	replyTo client.MessageID
	edits   client.MessageID // the message that the draft is to replace
	before  string           // the draft that an edit has pushed aside
	failed  Send             // the last message of which nobody knows whether the hub has it
}

// message is one with the lines that it takes.
type message struct {
	client.Message
	laid laid
}

func newRoom(id client.SessionID) *room { return &room{id: id} }

// forget drops the messages, but for nothing that is typed.
func (r *room) forget() {
	r.messages, r.loaded, r.loading, r.whole, r.detached, r.target, r.anchor, r.selected = nil, false, false, false, false, 0, anchor{}, ""
	r.runs = slices.DeleteFunc(r.runs, func(x *run) bool { return x.over() })
}

// describe takes what the record says of the conversation, unless the stream has told something newer meanwhile.
func (r *room) describe(s client.Session) {
	if s.InfoVersion < r.info.InfoVersion || s.SettingsVersion < r.info.SettingsVersion {
		return
	}
	r.info = client.SessionCreatedPayload{
		SessionID: s.ID, Type: s.Type, Name: s.Name, OwnerID: s.OwnerID, Members: s.Members, Announcement: s.Announcement,
		Pinned: s.Pinned, Archived: s.Archived, Muted: s.Muted, InfoVersion: s.InfoVersion, SettingsVersion: s.SettingsVersion,
	}
}

// unread is how many messages were not read. Without the count of all devices it is by their numbers, own ones and recalled ones among them.
func (r *room) unread() int64 {
	switch {
	case r.last <= max(r.read, r.marking):
		return 0
	case r.counts:
		return r.counted
	}
	return r.last - max(r.read, r.marking)
}

// find returns the place of a message by its number.
func (r *room) find(seq client.SeqID) (int, bool) {
	return slices.BinarySearchFunc(r.messages, seq, func(m *message, seq client.SeqID) int { return cmp.Compare(m.SeqID, seq) })
}

func (r *room) message(id client.MessageID) *message {
	for _, m := range r.messages {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// put takes a message in, or a newer version of it. What a message says itself of pins and reactions counts only if it comes from the record: frames
// have none.
func (r *room) put(m client.Message, fromRecord bool) {
	i, known := r.find(m.SeqID)
	if !known {
		r.messages = slices.Insert(r.messages, i, &message{Message: m})
		return
	}
	old := r.messages[i]
	if m.Revision < old.Revision || old.Recalled && !m.Recalled {
		return
	}
	if !fromRecord {
		m.Pinned, m.Reactions = old.Pinned, old.Reactions
	}
	r.messages[i] = &message{Message: m}
}

// page takes a page of messages that ends before a number; 0 is the newest.
func (r *room) page(before client.SeqID, list client.MessageList) {
	r.loading = false
	if before == 0 {
		if r.detached {
			r.messages, r.detached = nil, false
		}
		r.loaded = true
	}
	for _, m := range list.Items {
		r.put(m, true)
		r.final(m)
	}
	r.last = max(r.last, list.LastSeq)
	if len(list.Items) == 0 || r.messages[0].SeqID == list.Items[0].SeqID {
		r.whole = list.Next == 0
	}
	if r.target != 0 {
		r.arrive(list)
	}
	for _, x := range r.runs {
		r.place(x)
	}
	r.trim(before != 0)
}

// trim keeps memory bounded: beyond the limit go the oldest, or the newest if somebody reads on towards the beginning.
func (r *room) trim(backwards bool) {
	many := len(r.messages) - maxKept
	switch {
	case many <= 0:
	case backwards:
		r.messages, r.detached = slices.Clip(r.messages[:maxKept]), true
	default:
		r.messages, r.whole = slices.Clone(r.messages[many:]), false
	}
}

// said takes a new message of the stream.
func (r *room) said(m client.Message, mine bool) {
	r.last = max(r.last, m.SeqID)
	if m.CreatedAt.After(r.changed) {
		r.changed = m.CreatedAt
	}
	if mine {
		r.read = max(r.read, m.SeqID)
	}
	_, known := r.find(m.SeqID)
	asked := r.loading && !r.loaded && r.target == 0 // the page may have been read before this message was there
	next := r.loaded && !r.detached && (len(r.messages) == 0 || m.SeqID > r.messages[0].SeqID)
	if known || asked || next {
		r.put(m, false)
		r.trim(false)
	}
}

// title is what people call the conversation: its name, or who else is in it.
func (b *Board) title(r *room) string {
	if r.info.Name != "" {
		return r.info.Name
	}
	if others := b.others(r); others != "" {
		return others
	}
	return b.name(r.id)
}

func (b *Board) others(r *room) string {
	var names []string
	for _, m := range r.info.Members {
		if m.MemberID != b.options.Me {
			names = append(names, b.name(m.MemberID))
		}
	}
	return strings.Join(names, ", ")
}

func (b *Board) matches(r *room) bool {
	return b.filter == "" || strings.Contains(strings.ToLower(b.title(r)), strings.ToLower(b.filter))
}

// anchor is where a screen stands in a conversation: at its bottom is the item with the key, of which skip lines are below the edge.
type anchor struct {
	key  string
	skip int
}
