package gate

import (
	"slices"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// registry is the connections of this hub, by user. Safe for concurrent use.
type registry struct {
	perUser int
	open    sync.WaitGroup // a count per reserved place; none is added once shut

	mu       sync.Mutex
	users    map[id.User]map[*conn]bool // true once the connection is upgraded
	families map[account.Family][]*conn // nearly always one
	ended    Ended
	shutdown bool
}

func newRegistry(perUser int) *registry {
	return &registry{
		perUser: perUser, users: map[id.User]map[*conn]bool{}, families: map[account.Family][]*conn{}, ended: NewEnded(),
	}
}

// reserve takes a place before the upgrade. A connection of the same device does not count: it is about to be replaced.
func (r *registry) reserve(c *conn) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shutdown {
		return fault.New(fault.Busy, "This hub is stopping. Connect again in a moment.")
	}
	others := 0
	for o := range r.users[c.who.User] {
		if o.who.Device != c.who.Device {
			others++
		}
	}
	if others >= r.perUser {
		return fault.New(fault.RateLimited, "You have %d open connections. Close one before you open another.", others)
	}
	if r.users[c.who.User] == nil {
		r.users[c.who.User] = map[*conn]bool{}
	}
	r.users[c.who.User][c] = false
	r.open.Add(1)
	return nil
}

// add makes a reserved connection findable. It returns the others of its device here, which are to end now that there is a newer one, and
// why the connection itself must end at once, nil if it may stay.
func (r *registry) add(c *conn) (older []*conn, refused error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.users[c.who.User][c] = true
	r.families[c.who.Family] = append(r.families[c.who.Family], c)
	switch {
	case r.shutdown:
		return nil, restart()
	case r.ended.Has(c.who.Family, time.Now()):
		return nil, loginEnded()
	}
	for o, upgraded := range r.users[c.who.User] {
		switch {
		case o == c || !upgraded || o.who.Device != c.who.Device:
		case o.came.After(c.came):
			return nil, replaced(c.id)
		default:
			older = append(older, o)
		}
	}
	return older, nil
}

// remove gives a reserved place back.
func (r *registry) remove(c *conn) {
	defer r.open.Done()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.users[c.who.User], c)
	if len(r.users[c.who.User]) == 0 {
		delete(r.users, c.who.User)
	}
	left := slices.DeleteFunc(r.families[c.who.Family], func(o *conn) bool { return o == c })
	if r.families[c.who.Family] = left; len(left) == 0 {
		delete(r.families, c.who.Family)
	}
}

// endFamily returns the connections of a login that has ended, and remembers it for those that are on their way in.
func (r *registry) endFamily(f account.Family) []*conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended.Add(f, time.Now())
	return slices.Clone(r.families[f])
}

// find returns the connections that a kick means.
func (r *registry) find(k kick) (found []*conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c, upgraded := range r.users[k.User] {
		if upgraded && c.id != k.Except && k.Device == c.who.Device {
			found = append(found, c)
		}
	}
	return found
}

// of returns the connections of a user.
func (r *registry) of(u id.User) (found []*conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c, upgraded := range r.users[u] {
		if upgraded {
			found = append(found, c)
		}
	}
	return found
}

// shut lets nobody in any more and returns who is there; open waits for them.
func (r *registry) shut() []*conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shutdown = true
	var all []*conn
	for _, conns := range r.users {
		for c, upgraded := range conns {
			if upgraded {
				all = append(all, c)
			}
		}
	}
	return all
}
