package presence

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Roll is who counts as online: whoever is present, and whoever was until less than a grace ago. It is pure: what happens depends on what it is called
// with alone. Not safe for concurrent use.
type Roll struct {
	grace  time.Duration
	people map[id.User]listed
	last   int64 // version that was given
}

// listed is somebody who counts as online.
type listed struct {
	version int64
	missed  time.Time // when they were first seen to be absent; zero while they are present
}

// NewRoll returns a roll on which nobody stands.
func NewRoll(grace time.Duration) *Roll {
	return &Roll{grace: grace, people: map[id.User]listed{}}
}

// Call goes through the roll. It returns how those stand for whom that has changed, and when to call again if nobody comes before: zero if there is no
// need to. An absence is counted from the call that notices it, so that a process which was stopped begins to count when it goes on.
func (r *Roll) Call(present map[id.User]struct{}, now time.Time) (news []Standing, next time.Time) {
	for u := range present {
		one, known := r.people[u]
		if !known {
			one.version = r.stamp(now)
			news = append(news, Standing{u, true, one.version})
		}
		one.missed = time.Time{}
		r.people[u] = one
	}
	for u, one := range r.people {
		if _, there := present[u]; there {
			continue
		}
		if one.missed.IsZero() {
			one.missed = now
			r.people[u] = one
		}
		switch until := one.missed.Add(r.grace); {
		case !now.Before(until):
			delete(r.people, u)
			news = append(news, Standing{u, false, r.stamp(now)})
		case next.IsZero() || until.Before(next):
			next = until
		}
	}
	return news, next
}

// Standing is how somebody stands; without a version while they are offline.
func (r *Roll) Standing(u id.User) Standing {
	one, online := r.people[u]
	return Standing{u, online, one.version}
}

// Len is how many people count as online.
func (r *Roll) Len() int { return len(r.people) }

// stamp is a new version: the time, unless the clock was put back.
func (r *Roll) stamp(now time.Time) int64 {
	r.last = max(r.last+1, now.UnixMicro())
	return r.last
}
