package board

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// Update takes what a feed tells.
func (b *Board) Update(u client.Update) []Effect {
	now := b.options.Now()
	switch {
	case u.Ready:
		return b.ready()
	case u.Link == client.LinkDown:
		b.link.lost(u.Err, now)
		return nil
	case u.Link == client.LinkUp:
		b.link.state = catching
		if u.Snapshot {
			b.stale()
		}
		return nil
	case u.Err != nil:
		b.link.why = "the hub does not give what was missed: " + u.Err.Error()
		return nil
	case u.Frame == nil || !u.New:
		return nil
	}
	return append(b.frame(*u.Frame), b.look()...)
}

// stale forgets messages of which some may be missing now.
func (b *Board) stale() {
	for _, r := range b.rooms {
		r.forget()
	}
}

// ready is when everything that was missed was told.
func (b *Board) ready() []Effect {
	b.link = link{state: live}
	effects := []Effect{List{}}
	if r := b.current(); r != nil {
		effects = append(effects, b.load(r)...)
	}
	return append(effects, b.look()...)
}

// Listed takes all conversations as the record has them.
func (b *Board) Listed(all []client.Session) []Effect {
	known := map[client.SessionID]bool{}
	for _, s := range all {
		known[s.ID] = true
		r := b.room(s.ID)
		r.created, r.listed, r.closed = true, true, !s.DissolvedAt.IsZero()
		r.describe(s)
		r.last, r.read = max(r.last, s.LastSeq), max(r.read, s.LastReadSeq)
		if s.UpdatedAt.After(r.changed) {
			r.changed = s.UpdatedAt
		}
		b.learn(s.Members)
	}
	for id, r := range b.rooms {
		if r.listed && !known[id] { // one that is not listed yet may be newer than the list
			b.leave(id)
		}
	}
	return b.settle()
}

// settle makes sure that the list points at something, and that a wide screen shows a conversation.
func (b *Board) settle() []Effect {
	all := b.listed()
	if len(all) == 0 {
		return nil
	}
	if b.rooms[b.cursor] == nil {
		b.cursor = all[0].id
	}
	if b.open == "" && b.wide() {
		return b.enter(b.cursor)
	}
	return b.look()
}

func (b *Board) leave(id client.SessionID) {
	delete(b.rooms, id)
	if b.open == id {
		b.open, b.focus, b.hits = "", onList, nil
	}
	b.questions = slices.DeleteFunc(b.questions, func(q question) bool { return q.SessionID == id })
}

// Page takes a page of messages that ends before a number, 0 for the newest, and with those the runs under way with the ends of their logs.
func (b *Board) Page(session client.SessionID, before client.SeqID, list client.MessageList, runs []RunLog) []Effect {
	r := b.rooms[session]
	if r == nil {
		return nil
	}
	r.page(before, list)
	for _, x := range runs {
		b.known(r, x)
	}
	return b.look()
}

// NoPage says that a page could not be had.
func (b *Board) NoPage(session client.SessionID, err error) {
	if r := b.rooms[session]; r != nil {
		r.loading, r.target = false, 0
	}
	b.Fail("messages", err)
}

// Marked takes what came of moving a read mark. One that could not be moved is tried again when there is more to read.
func (b *Board) Marked(m MarkRead, err error) []Effect {
	r := b.rooms[m.Session]
	if r == nil {
		return nil
	}
	r.marking = 0
	if err != nil {
		return nil
	}
	r.read = max(r.read, m.Seq)
	return b.look()
}

// Unread takes how many messages of a conversation are unread, as all devices of the person have it.
func (b *Board) Unread(session client.SessionID, n int64) {
	if r := b.rooms[session]; r != nil {
		r.counted, r.counts = n, true
	}
}

// frame takes a fact that was not told before.
func (b *Board) frame(f client.HubWebSocketFrame) []Effect {
	switch f.Type {
	case client.HubWebSocketFrameTypeMessageNew:
		return b.said(f.Payload)
	case client.HubWebSocketFrameTypeMessageRecall, client.HubWebSocketFrameTypeMessagePin, client.HubWebSocketFrameTypeMessageUnpin,
		client.HubWebSocketFrameTypeMessageReactionAdded, client.HubWebSocketFrameTypeMessageReactionRemoved, client.HubWebSocketFrameTypeMessageRead:
		b.about(f)
	case client.HubWebSocketFrameTypeSessionCreated, client.HubWebSocketFrameTypeSessionInfoUpdated, client.HubWebSocketFrameTypeSessionDissolved,
		client.HubWebSocketFrameTypeSessionMemberJoined, client.HubWebSocketFrameTypeSessionMemberLeft:
		return b.conversation(f)
	case client.HubWebSocketFrameTypeAgentDispatch, client.HubWebSocketFrameTypeAgentStream, client.HubWebSocketFrameTypeAgentDone,
		client.HubWebSocketFrameTypeAgentFailed, client.HubWebSocketFrameTypeAgentCancel:
		b.ran(f)
	case client.HubWebSocketFrameTypeNotificationNew:
		b.notified(f.Payload)
	}
	return nil
}

func (b *Board) said(payload json.RawMessage) []Effect {
	m, ok := read[client.Message](payload)
	if !ok || m.SessionID == "" {
		return nil
	}
	r := b.room(m.SessionID)
	r.said(m, m.SenderID == b.options.Me)
	r.final(m)
	return nil
}

// about takes what became of a message, and how far it was read.
func (b *Board) about(f client.HubWebSocketFrame) {
	p, ok := read[struct {
		client.MessageReactionPayload
		Seq client.SeqID  `json:"last_read_seq"`
		At  time.Time     `json:"pinned_at"`
		By  client.UserID `json:"pinned_by_user_id"`
	}](f.Payload)
	if !ok || b.rooms[p.SessionID] == nil {
		return
	}
	r := b.rooms[p.SessionID]
	if f.Type == client.HubWebSocketFrameTypeMessageRead {
		if p.UserID == b.options.Me {
			r.read = max(r.read, p.Seq)
		}
		return
	}
	m := r.message(p.MessageID)
	if m == nil {
		return
	}
	m.laid = laid{}
	switch f.Type {
	case client.HubWebSocketFrameTypeMessageRecall:
		m.Content, m.Attachments, m.Reactions, m.Pinned, m.Recalled = json.RawMessage("{}"), nil, nil, client.MessagePinned{}, true
	case client.HubWebSocketFrameTypeMessagePin:
		m.Pinned = client.MessagePinned{PinnedAt: p.At, PinnedByUserID: p.By}
	case client.HubWebSocketFrameTypeMessageUnpin:
		m.Pinned = client.MessagePinned{}
	default:
		m.Reactions = reacted(m.Reactions, p.Reaction, p.UserID, f.Type == client.HubWebSocketFrameTypeMessageReactionAdded)
	}
}

// reacted returns reactions with one more, or one less. They are copied: the page that they came with may be somebody else's.
func reacted(all []client.Reaction, reaction string, by client.UserID, on bool) []client.Reaction {
	var now []client.Reaction
	found := false
	for _, r := range all {
		if r.Reaction == reaction {
			found = true
			r.UserIds = slices.DeleteFunc(slices.Clone(r.UserIds), func(u client.UserID) bool { return u == by })
			if on {
				r.UserIds = append(r.UserIds, by)
			}
			r.Count = len(r.UserIds)
		}
		if r.Count > 0 {
			now = append(now, r)
		}
	}
	if !found && on {
		now = append(now, client.Reaction{Reaction: reaction, Count: 1, UserIds: []client.UserID{by}})
	}
	return now
}

func (b *Board) conversation(f client.HubWebSocketFrame) []Effect {
	p, ok := read[client.SessionMemberJoinedPayload](f.Payload)
	if !ok || p.SessionID == "" {
		return nil
	}
	r := b.room(p.SessionID)
	switch f.Type {
	case client.HubWebSocketFrameTypeSessionCreated, client.HubWebSocketFrameTypeSessionInfoUpdated:
		members := r.info.Members
		r.info.Members = nil
		if json.Unmarshal(f.Payload, &r.info) == nil { // what it does not speak of stays
			if r.info.Members == nil {
				r.info.Members = members
			}
			r.created = r.created || f.Type == client.HubWebSocketFrameTypeSessionCreated
			if r.info.CreatedAt.After(r.changed) {
				r.changed = r.info.CreatedAt
			}
			b.learn(r.info.Members)
		}
		return b.settle()
	case client.HubWebSocketFrameTypeSessionDissolved:
		r.closed = true
	case client.HubWebSocketFrameTypeSessionMemberJoined:
		m := client.SessionMember{MemberID: p.MemberID, MemberType: p.MemberType, Name: p.Name, Role: p.Role, JoinedAt: p.JoinedAt}
		r.info.Members = append(without(r.info.Members, p.MemberID), m)
		b.learn(r.info.Members)
	case client.HubWebSocketFrameTypeSessionMemberLeft:
		if p.MemberID == b.options.Me {
			b.leave(p.SessionID)
			return b.settle()
		}
		r.info.Members = without(r.info.Members, p.MemberID)
	}
	return nil
}

func without(members []client.SessionMember, id client.MemberID) []client.SessionMember {
	return slices.DeleteFunc(slices.Clone(members), func(m client.SessionMember) bool { return m.MemberID == id })
}

func read[T any](payload json.RawMessage) (T, bool) {
	var v T
	return v, json.Unmarshal(payload, &v) == nil
}
