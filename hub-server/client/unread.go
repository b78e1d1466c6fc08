package client

import (
	"cmp"
	"encoding/json"
	"maps"
)

// counted is how many messages of a conversation were unread by the hub's count: those behind mark that are of others and were not taken back, when
// last was the newest message and change the newest change of one.
type counted struct {
	mark, last SeqID
	change     int64
	unread     int64
}

// before says whether the hub has counted c before it counted o: none of the three numbers ever goes back.
func (c counted) before(o counted) bool {
	return cmp.Or(cmp.Compare(c.mark, o.mark), cmp.Compare(c.last, o.last), cmp.Compare(c.change, o.change)) < 0
}

// tally is the hub's newest count of a conversation, with what has happened since. Whatever it is told of may come in any order and again.
type tally struct {
	counted
	newest SeqID
	not    map[SeqID]int64 // messages that are not unread: 0 for own ones, the number of the change for those that were taken back
}

// unread counts.
func (t *tally) unread(mark SeqID) int64 {
	c := t.counted
	if mark > c.mark { // by a hub that does not count
		c = counted{mark: mark, last: mark}
	}
	n := c.unread + max(0, t.newest-c.last)
	for seq, change := range t.not {
		if seq > c.mark && (seq > c.last || change > c.change) {
			n--
		}
	}
	return max(0, n)
}

// count takes a count of the hub, if it is news. What it knows already need not be kept.
func (t *tally) count(c counted) {
	t.newest = max(t.newest, c.last)
	if !t.before(c) {
		return
	}
	t.counted = c
	maps.DeleteFunc(t.not, func(seq SeqID, change int64) bool { return seq <= c.mark || seq <= c.last && change <= c.change })
}

// except takes a message out of what is unread.
func (t *tally) except(seq SeqID, change int64) {
	if change = max(change, t.not[seq]); seq > t.mark && (seq > t.last || change > t.change) {
		t.not[seq] = change
	}
}

func (r *Reducer) tallyOf(s SessionID) *tally {
	t, known := r.tallies[s]
	if !known {
		t = &tally{not: map[SeqID]int64{}}
		r.tallies[s] = t
	}
	return t
}

// tallied is what payloads say about unread messages.
type tallied struct {
	Session  SessionID `json:"session_id"`
	User     UserID    `json:"user_id"`
	Sender   MemberID  `json:"sender_id"`
	Seq      SeqID     `json:"seq_id"`
	Recalled bool      `json:"recalled"`
	Change   int64     `json:"change_seq"`

	Mark       SeqID  `json:"last_read_seq"`
	Last       *SeqID `json:"last_seq"`
	LastChange int64  `json:"last_change"`
	Unread     *int64 `json:"unread"`
}

// tally notes what a frame says about unread messages, whatever else becomes of it.
func (r *Reducer) tally(typ HubWebSocketFrameType, payload json.RawMessage) {
	switch typ {
	case HubWebSocketFrameTypeMessageNew, HubWebSocketFrameTypeMessageRecall, HubWebSocketFrameTypeMessageRead, HubWebSocketFrameTypeSessionCreated:
	default:
		return
	}
	var p tallied
	if json.Unmarshal(payload, &p) != nil || p.Session == "" {
		return
	}
	t := r.tallyOf(p.Session)
	switch {
	case typ == HubWebSocketFrameTypeMessageRead && p.User == r.me && p.Last != nil && p.Unread != nil:
		t.count(counted{mark: p.Mark, last: *p.Last, change: p.LastChange, unread: *p.Unread})
	case typ == HubWebSocketFrameTypeSessionCreated && p.Last != nil: // who joins has read what there is
		t.count(counted{mark: *p.Last, last: *p.Last})
	case typ == HubWebSocketFrameTypeMessageNew, typ == HubWebSocketFrameTypeMessageRecall:
		t.newest = max(t.newest, p.Seq)
		if p.Sender == r.me {
			t.except(p.Seq, 0)
		} else if p.Recalled || typ == HubWebSocketFrameTypeMessageRecall {
			t.except(p.Seq, p.Change)
		}
	}
}

// Unread is how many messages of a conversation this user has not read: those behind the read mark that others sent and did not take back. It is what a
// fresh list of conversations would say, on each of the user's devices. False if the conversation is not known.
func (r *Reducer) Unread(s SessionID) (int64, bool) {
	if _, known := r.records[recordKey("session", s)]; !known || r.me == "" {
		return 0, false
	}
	return r.tallyOf(s).unread(r.marks[recordKey("read", s, r.me)]), true
}

// Badge is how many messages are unread in all conversations together, without those that are muted or dissolved.
func (r *Reducer) Badge() int64 {
	var all int64
	for _, s := range r.Sessions() {
		if n, known := r.Unread(s.SessionID); known && !s.Muted {
			all += n
		}
	}
	return all
}

// ReadMarks is how far those have read who are in a conversation; who has read nothing is not in it. The map is the caller's.
func (r *Reducer) ReadMarks(s SessionID) map[UserID]SeqID {
	var record SessionCreatedPayload
	marks := map[UserID]SeqID{}
	if json.Unmarshal(r.records[recordKey("session", s)], &record) != nil {
		return marks
	}
	for _, m := range record.Members {
		if mark := r.marks[recordKey("read", s, m.MemberID)]; mark > 0 {
			marks[m.MemberID] = mark
		}
	}
	return marks
}
