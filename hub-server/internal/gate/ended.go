package gate

import (
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
)

// How long, and how many, logins that have ended are remembered: a connection whose credential was judged before that is let in, or has given
// up, by then. The check of each login (see alive.go) finds whoever slips through.
const (
	endedKept = time.Minute
	endedMost = 4096
)

// Ended are the logins that have ended of late. It is not safe for concurrent use.
type Ended struct {
	at    map[account.Family]time.Time
	order []account.Family // oldest first, each once
}

// NewEnded remembers none.
func NewEnded() Ended {
	return Ended{at: map[account.Family]time.Time{}}
}

// Add remembers a login that ends now.
func (e *Ended) Add(f account.Family, now time.Time) {
	e.forget(now)
	if _, known := e.at[f]; known {
		return
	}
	if len(e.order) == endedMost {
		e.dropOldest()
	}
	e.at[f] = now
	e.order = append(e.order, f)
}

// Has says whether a login has ended of late.
func (e *Ended) Has(f account.Family, now time.Time) bool {
	at, known := e.at[f]
	return known && now.Sub(at) < endedKept
}

func (e *Ended) forget(now time.Time) {
	for len(e.order) > 0 && now.Sub(e.at[e.order[0]]) >= endedKept {
		e.dropOldest()
	}
}

func (e *Ended) dropOldest() {
	delete(e.at, e.order[0])
	e.order = e.order[1:]
}
