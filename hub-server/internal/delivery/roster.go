package delivery

import (
	"github.com/switchyard-dev/switchyard/shared/id"
)

// roster knows the conversations of the people who have a connection on this hub, as of the tail's position. It is guarded by the
// tail's lock.
type roster struct {
	members  map[id.User]*member
	sessions map[id.Session]map[*member]struct{}
	found    []*Stream // room for the next audience
}

// member is one person with at least one open stream.
type member struct {
	user     id.User
	sessions map[id.Session]struct{}
	streams  map[*Stream]struct{} // attached ones
	open     int                  // streams, attached or not

	loaded chan struct{} // closed when sessions is true as of the tail's position
	err    error         // of the load; set before loaded is closed
	missed []Row         // changes since the load began
}

func newRoster() roster {
	return roster{members: map[id.User]*member{}, sessions: map[id.Session]map[*member]struct{}{}}
}

// open returns the user's member with one stream more; first says that the caller has to load it.
func (r *roster) open(user id.User) (m *member, first bool) {
	m, ok := r.members[user]
	if !ok {
		m = &member{
			user: user, sessions: map[id.Session]struct{}{}, streams: map[*Stream]struct{}{}, loaded: make(chan struct{}),
		}
		r.members[user] = m
	}
	m.open++
	return m, !ok
}

// close takes one stream away; with the last one the member is forgotten.
func (r *roster) close(m *member) {
	if m.open--; m.open > 0 {
		return
	}
	for s := range m.sessions {
		r.leave(m, s)
	}
	r.forget(m)
}

// forget makes the next stream of the user begin anew.
func (r *roster) forget(m *member) {
	if r.members[m.user] == m {
		delete(r.members, m.user)
	}
}

// settle ends a load: what the store said, then the changes that came meanwhile.
func (r *roster) settle(m *member, sessions []id.Session, err error) {
	missed := m.missed
	m.err, m.missed = err, nil
	close(m.loaded)
	if err != nil {
		r.forget(m)
		return
	}
	for _, s := range sessions {
		r.join(m, s)
	}
	for _, row := range missed {
		r.change(m, row)
	}
}

// apply moves a membership if the person is connected here. Applying a row twice is the same as once.
func (r *roster) apply(row Row) {
	if row.Change == NoChange {
		return
	}
	m, ok := r.members[row.ChangeUser]
	if !ok {
		return
	}
	select {
	case <-m.loaded:
		r.change(m, row)
	default:
		m.missed = append(m.missed, row)
	}
}

func (r *roster) change(m *member, row Row) {
	if row.Change == Joined {
		r.join(m, row.Session)
	} else {
		r.leave(m, row.Session)
	}
}

func (r *roster) join(m *member, s id.Session) {
	m.sessions[s] = struct{}{}
	if r.sessions[s] == nil {
		r.sessions[s] = map[*member]struct{}{}
	}
	r.sessions[s][m] = struct{}{}
}

func (r *roster) leave(m *member, s id.Session) {
	delete(m.sessions, s)
	delete(r.sessions[s], m)
	if len(r.sessions[s]) == 0 {
		delete(r.sessions, s)
	}
}

// audience returns the attached streams that a row is for, until the next call.
func (r *roster) audience(a Audience) []*Stream {
	streams := r.found[:0]
	if user, ok := a.User(); ok {
		if m := r.members[user]; m != nil {
			streams = m.appendStreams(streams)
		}
	} else if session, ok := a.Session(); ok {
		for m := range r.sessions[session] {
			streams = m.appendStreams(streams)
		}
	}
	r.found = streams
	return streams
}

func (m *member) appendStreams(dst []*Stream) []*Stream {
	for s := range m.streams {
		dst = append(dst, s)
	}
	return dst
}
