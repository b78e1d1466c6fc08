package delivery

import (
	"sync"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Followers are the readers on this hub process that follow the log of one run each, and those who wait for a round. They read the record themselves, at their own
// pace; from here they get hints that there is something to read, and the word that they must go. Safe for concurrent use.
type Followers struct {
	perUser int

	mu    sync.Mutex
	runs  map[id.Run]*followed
	users map[id.User]int
	shut  bool
}

// NewFollowers returns an empty set; one user may have that many followers in it.
func NewFollowers(perUser int) *Followers {
	return &Followers{perUser: perUser, runs: map[id.Run]*followed{}, users: map[id.User]int{}}
}

// followed is a run with readers.
type followed struct {
	followers map[*Follower]struct{}
	head      uint64 // number of the newest event that a hint told of; 0: none
}

// Follower is one reader of a run's log.
type Follower struct {
	set     *Followers
	who     account.Principal
	run     id.Run
	session id.Session
	ready   chan struct{}
	gone    chan struct{}
	ended   bool // gone is closed; guarded by the set's lock
	left    bool // its user may have left the conversation since somebody asked; guarded by the set's lock
}

// Follow adds a reader: fault.RateLimited for a user who has too many, fault.Busy while the hub stops. Follow first and read after that:
// what is committed in between gives a hint. Close it at the end.
func (s *Followers) Follow(who account.Principal, run id.Run, session id.Session) (*Follower, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.shut:
		return nil, fault.New(fault.Busy, "This hub is stopping. Connect again in a moment.")
	case s.users[who.User] >= s.perUser:
		return nil, fault.New(fault.RateLimited, "You follow runs or wait for news %d times at once. Stop following one before you begin another.", s.users[who.User])
	}
	f := &Follower{set: s, who: who, run: run, session: session, ready: make(chan struct{}, 1), gone: make(chan struct{}), left: true}
	if s.runs[run] == nil {
		s.runs[run] = &followed{followers: map[*Follower]struct{}{}}
	}
	s.runs[run].followers[f] = struct{}{}
	s.users[who.User]++
	return f, nil
}

// Wait adds somebody who follows no run but must go when their login ends or the hub stops, as Follow does. Only Gone and Close are of use.
func (s *Followers) Wait(who account.Principal) (*Follower, error) { return s.Follow(who, "", "") }

// Ready has a value when there may be something to read, or the reader's right to it may have changed. Any number of hints are one.
func (f *Follower) Ready() <-chan struct{} { return f.ready }

// Gone is closed when the reader must end: its login has ended, or the hub stops.
func (f *Follower) Gone() <-chan struct{} { return f.gone }

// Head is the number of the newest event of the run of which the tail knows, 0 if it has seen none since somebody began to follow.
func (f *Follower) Head() uint64 {
	f.set.mu.Lock()
	defer f.set.mu.Unlock()
	return f.set.runs[f.run].head
}

// Left says whether the follower's user may have been removed from the conversation since the last call. The tail sees rows in their order, so
// whoever asked for the Head before misses no removal that was committed before the event there.
func (f *Follower) Left() bool {
	f.set.mu.Lock()
	defer f.set.mu.Unlock()
	left := f.left
	f.left = false
	return left
}

// Close removes the follower.
func (f *Follower) Close() {
	s := f.set
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs[f.run].followers, f)
	if len(s.runs[f.run].followers) == 0 {
		delete(s.runs, f.run)
	}
	if s.users[f.who.User]--; s.users[f.who.User] == 0 {
		delete(s.users, f.who.User)
	}
}

// Seen gives hints for rows that were committed. It does not block, and any number of calls may be lost.
func (s *Followers) Seen(rows []Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		switch {
		case row.Kind == KindRun:
			s.grown(row)
		case row.Change == Left:
			s.each(func(f *Follower) {
				if f.who.User == row.ChangeUser && f.session == row.Session {
					f.left = true
					signal(f.ready)
				}
			})
		}
	}
}

func (s *Followers) grown(row Row) {
	run := s.runs[row.Run]
	if run == nil {
		return
	}
	run.head = max(run.head, row.To)
	for f := range run.followers {
		signal(f.ready)
	}
}

// EndFamily ends the readers of a login that ended.
func (s *Followers) EndFamily(family account.Family) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.each(func(f *Follower) {
		if f.who.Family == family {
			f.end()
		}
	})
}

// Shut ends all readers and lets nobody in any more.
func (s *Followers) Shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut = true
	s.each((*Follower).end)
}

func (s *Followers) each(do func(*Follower)) {
	for _, run := range s.runs {
		for f := range run.followers {
			do(f)
		}
	}
}

// end says that the reader must go. The set's lock is held.
func (f *Follower) end() {
	if !f.ended {
		f.ended = true
		close(f.gone)
	}
}
