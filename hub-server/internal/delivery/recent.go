package delivery

import "github.com/switchyard-dev/switchyard/shared/id"

// Bounds of what is kept of the rows that have passed.
const (
	recentBytes = 8 << 20
	recentRows  = 16 << 10
	rowCost     = 512 // bytes that a row takes besides its frames, roughly
)

// recent is the last rows that have passed the tail, without a hole, with their frames if somebody has asked for them. Clients that come
// back together after a short absence all read the same rows: most of them are served from here (see fromRecent). Guarded by the tail's lock.
type recent struct {
	rows    []*passed // from start on
	start   int
	bytes   int
	payload int64                // of all rows that ever were here, see Row.Bytes
	changes map[id.User]Position // the last change to a membership of whoever has one in rows, or one that has just been applied
}

func newRecent() recent { return recent{changes: map[id.User]Position{}} }

// passed is a row behind the tail. It is not changed once it is added: whoever has it needs no lock.
type passed struct {
	row     Row
	frames  rowFrames
	encoded bool
	stale   bool  // what is encoded of it now may have been read before its message was edited or recalled
	payload int64 // of all rows up to this one
}

// allPassed are rows of the store.
func allPassed(rows []Row) []*passed {
	all := make([]*passed, len(rows))
	for i, row := range rows {
		all[i] = &passed{row: row}
	}
	return all
}

func (p *passed) cost() int {
	return rowCost + len(p.row.Payload) + sizeOf(p.frames.all) + sizeOf(p.frames.others)
}

// add keeps a row, and drops the oldest ones that there is no room for.
func (r *recent) add(p *passed) {
	if p.row.outdates() {
		r.outdate(p.row.Message)
	}
	r.payload += int64(p.row.size())
	p.payload = r.payload
	r.rows = append(r.rows, p)
	r.bytes += p.cost()
	r.trim()
}

// outdate forgets what was encoded of a message: whoever comes back from now on is told what is left of it, as the store has it.
func (r *recent) outdate(m id.Message) {
	for i, p := range r.rows[r.start:] {
		if p.row.Message == m && p.row.Kind == KindMessage {
			r.bytes -= p.cost()
			again := &passed{row: p.row, payload: p.payload, stale: true}
			r.rows[r.start+i] = again
			r.bytes += again.cost()
		}
	}
}

func (r *recent) trim() {
	for r.bytes > recentBytes || len(r.rows)-r.start > recentRows {
		r.drop(r.rows[r.start])
		r.rows[r.start] = nil
		r.start++
	}
	if r.start > 64 && r.start > len(r.rows)/2 {
		r.rows = append(r.rows[:0], r.rows[r.start:]...)
		clear(r.rows[len(r.rows):cap(r.rows)])
		r.start = 0
	}
}

func (r *recent) drop(p *passed) {
	r.bytes -= p.cost()
	if p.row.Change != NoChange && r.changes[p.row.ChangeUser] == p.row.Position {
		delete(r.changes, p.row.ChangeUser)
	}
}

// change notes that a row has moved somebody's membership. The roster is ahead of the rows by the one that is being delivered: it is noted when the
// roster applies it.
func (r *recent) change(row Row) {
	if row.Change != NoChange {
		r.changes[row.ChangeUser] = row.Position
	}
}

// after returns the rows behind a position; false means that some of them are not kept any more. The slice is valid while the lock is held.
func (r *recent) after(p Position) ([]*passed, bool) {
	kept := r.rows[r.start:]
	if len(kept) == 0 || p+1 < kept[0].row.Position {
		return nil, false
	}
	skip := int(p + 1 - kept[0].row.Position) //nolint:gosec // not more than there are rows
	return kept[min(skip, len(kept)):], true
}

// encode remembers the frames of a row that was asked for, if it is still there.
func (r *recent) encode(p Position, f rowFrames) {
	rows, ok := r.after(p - 1)
	if !ok || len(rows) == 0 || rows[0].encoded || rows[0].stale {
		return
	}
	encoded := &passed{row: rows[0].row, frames: f, encoded: true, payload: rows[0].payload}
	r.bytes += encoded.cost() - rows[0].cost()
	rows[0] = encoded
	r.trim()
}

// Missed is at most how much anybody has missed since a position; false means that nobody knows without asking the store. What was
// committed a moment ago may not be counted yet.
func (t *Tail) Missed(p Position) (Backlog, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows, ok := t.recent.after(p)
	if !ok {
		return Backlog{}, false
	}
	if len(rows) == 0 {
		return Backlog{}, true
	}
	first, last := rows[0], rows[len(rows)-1]
	return Backlog{Rows: len(rows), Bytes: last.payload - first.payload + int64(first.row.size())}, true
}

// fromRecent returns the rows of the stream's user that lie after its position, up to a page of them, and how far they reach. It
// answers as Outbox.RowsFor would, from memory: whoever has neither joined nor left anything since then was all the time in the conversations
// that they are in now. "Now" is what the roster knows, which may be more than upTo. False means that the store must be asked.
func (s *Stream) fromRecent(upTo Position) (page []*passed, reach Position, ok bool) {
	t := s.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	rows, ok := t.recent.after(s.pos)
	if !ok || t.recent.changes[s.member.user] > s.pos {
		return nil, 0, false
	}
	reach, page = s.pos, make([]*passed, 0, min(len(rows), pageRows))
	for _, p := range rows {
		if p.row.Position > upTo || len(page) == pageRows {
			break
		}
		if s.member.hears(p.row.Audience) {
			page = append(page, p)
		}
		reach = p.row.Position
	}
	return page, reach, true
}

// hears says whether a row with that audience is the member's, as of the tail's position.
func (m *member) hears(a Audience) bool {
	if user, ok := a.User(); ok {
		return user == m.user
	}
	session, ok := a.Session()
	if !ok {
		return false
	}
	_, in := m.sessions[session]
	return in
}
