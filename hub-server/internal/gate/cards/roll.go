package cards

import (
	"slices"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/gate"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// roll is the connections of this hub. One person, one device and one conversation may have several: all are served. Safe for concurrent use.
type roll struct {
	perUser int
	open    sync.WaitGroup // a count per reserved place; none is added once shut

	mu       sync.Mutex
	users    map[id.User]int // reserved places
	conns    map[*conn]struct{}
	sessions map[id.Session][]*conn
	ended    gate.Ended
	stopping bool
}

func newRoll(perUser int) *roll {
	return &roll{
		perUser: perUser, users: map[id.User]int{}, conns: map[*conn]struct{}{}, sessions: map[id.Session][]*conn{}, ended: gate.NewEnded(),
	}
}

// reserve takes a place before the upgrade; it is given back by free or remove.
func (r *roll) reserve(who account.Principal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stopping:
		return fault.New(fault.Busy, "This hub is stopping. Connect again in a moment.")
	case r.users[who.User] >= r.perUser:
		return fault.New(fault.RateLimited, "You have %d open connections. Close one before you open another.", r.users[who.User])
	}
	r.users[who.User]++
	r.open.Add(1)
	return nil
}

// free gives a place back that no connection has taken.
func (r *roll) free(who account.Principal) {
	defer r.open.Done()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.vacate(who)
}

func (r *roll) vacate(who account.Principal) {
	if r.users[who.User]--; r.users[who.User] == 0 {
		delete(r.users, who.User)
	}
}

// add lets a connection take its reserved place. It returns why it must end at once, nil if it may stay.
func (r *roll) add(c *conn) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns[c] = struct{}{}
	switch {
	case r.stopping:
		return restart()
	case r.ended.Has(c.who.Family, time.Now()):
		return loginEnded()
	}
	return nil
}

// about notes which conversation a connection is about.
func (r *roll) about(c *conn, s id.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions[s] = append(r.sessions[s], c)
}

// remove forgets a connection and gives its place back.
func (r *roll) remove(c *conn) {
	defer r.open.Done()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, c)
	r.vacate(c.who)
	for session, conns := range r.sessions {
		if i := slices.Index(conns, c); i >= 0 {
			if r.sessions[session] = slices.Delete(conns, i, i+1); len(conns) == 1 {
				delete(r.sessions, session)
			}
			return
		}
	}
}

// lookAgain has the connections of a conversation look at it again.
func (r *roll) lookAgain(s id.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.sessions[s] {
		c.again.Store(true)
		c.wakeUp()
	}
}

// endFamily returns the connections of a login that has ended, and remembers it for those that are on their way in.
func (r *roll) endFamily(f account.Family) (gone []*conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended.Add(f, time.Now())
	for c := range r.conns {
		if c.who.Family == f {
			gone = append(gone, c)
		}
	}
	return gone
}

// shut lets nobody in any more and returns who is there.
func (r *roll) shut() (all []*conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopping = true
	for c := range r.conns {
		all = append(all, c)
	}
	return all
}
