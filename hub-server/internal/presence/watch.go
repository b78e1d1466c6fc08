package presence

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

const (
	lookEvery  = time.Second            // the floor when nobody says that something has changed; also for what the store did not answer
	lookPause  = 100 * time.Millisecond // after a look, which goes through everybody: a crowd that comes at once is few changes
	askWithin  = 5 * time.Second        // one question to the store
	maxWaiting = 10_000                 // pairs that wait to be looked at; a device that misses one is told when it connects again
)

// Config is what a Watch works with.
type Config struct {
	Crowd   Crowd
	Friends Friends
	Tell    func(to []id.User, s Standing) // tells those of them who are connected to this hub. It must not block
	Grace   time.Duration                  // for how long somebody who has left still counts as online
	Log     *slog.Logger
	Metrics *telemetry.Registry
}

// Watch tells the people at this hub which of their friends come and go, wherever those are connected. Each hub does so for its own, from what all of
// them hold: nobody decides for the others, and a hub that dies is found absent by each. Safe for concurrent use.
type Watch struct {
	Crowd
	config Config
	began  time.Time
	wake   chan struct{}
	online telemetry.Gauge

	mu    sync.Mutex
	roll  *Roll
	pairs map[Pair]struct{}

	untold map[id.User]Standing // owned by Run
}

// NewWatch returns a watch over a crowd.
func NewWatch(c Config) *Watch {
	return &Watch{
		Crowd: c.Crowd, config: c, began: time.Now(), wake: make(chan struct{}, 1),
		online: c.Metrics.Gauge("people_online", "People who count as online, at whichever hub they are connected."),
		roll:   NewRoll(c.Grace), pairs: map[Pair]struct{}{}, untold: map[id.User]Standing{},
	}
}

// Online says whether somebody counts as online. Whom to tell is the caller's business.
func (w *Watch) Online(u id.User) bool { return w.standing(u).Online }

func (w *Watch) standing(u id.User) Standing {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.roll.Standing(u)
}

// Friends returns which friends of a person are there.
func (w *Watch) Friends(ctx context.Context, u id.User) (Statement, error) {
	friends, err := w.config.Friends.FriendsOf(ctx, u)
	s := Statement{Online: []Standing{}, WholeIn: max(0, w.config.Grace-time.Since(w.began))}
	if err != nil {
		return s, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range friends {
		if standing := w.roll.Standing(f); standing.Online {
			s.Online = append(s.Online, standing)
		}
	}
	return s, nil
}

// ContactChanged says that two people may have become friends, or are not any more. It does not block.
func (w *Watch) ContactChanged(p Pair) {
	w.note(p)
	signal(w.wake)
}

func (w *Watch) note(p Pair) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pairs) < maxWaiting {
		w.pairs[p] = struct{}{}
	}
}

// Run watches until ctx ends.
func (w *Watch) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-w.wake:
		case <-w.Changed():
		}
		next := w.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookPause):
		}
		timer.Reset(max(0, time.Until(next)))
	}
}

// look finds out what has changed, tells it, and returns when to look again at the latest.
func (w *Watch) look(ctx context.Context) (next time.Time) {
	present, now := w.Present(), time.Now()
	next = now.Add(lookEvery)
	w.mu.Lock()
	news, due := w.roll.Call(present, now)
	pairs := slices.Collect(maps.Keys(w.pairs))
	clear(w.pairs)
	w.online.Set(float64(w.roll.Len()))
	w.mu.Unlock()
	for _, s := range news {
		w.untold[s.User] = s
	}
	told := w.tell(ctx)
	for _, p := range pairs {
		if err := w.tellPair(ctx, p, told); err != nil {
			w.trouble(ctx, err)
			w.note(p)
		}
	}
	if !due.IsZero() && due.Before(next) {
		next = due
	}
	return next
}

// tell tells the friends of those whose standing has changed, and returns whose that was. What the store does not answer is told later, as it is then.
func (w *Watch) tell(ctx context.Context) (told map[id.User]bool) {
	told = map[id.User]bool{}
	order := func(a, b Standing) int { return cmp.Compare(a.Version, b.Version) }
	for _, s := range slices.SortedFunc(maps.Values(w.untold), order) {
		friends, err := w.friendsOf(ctx, s.User)
		if err != nil {
			w.trouble(ctx, err)
			return told
		}
		delete(w.untold, s.User)
		w.config.Tell(friends, s)
		told[s.User] = true
	}
	return told
}

func (w *Watch) friendsOf(ctx context.Context, u id.User) ([]id.User, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return w.config.Friends.FriendsOf(ctx, u)
}

// tellPair tells two people how the other one stands for them now: a friend who is there is online, and whoever is no friend any more is not. Of
// somebody who is not there nothing is told, so that the end of a friendship looks like somebody leaving, or like nothing; nor of those whose friends were
// told just now.
func (w *Watch) tellPair(ctx context.Context, p Pair, told map[id.User]bool) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	friends, err := w.config.Friends.AreFriends(ctx, p.A, p.B)
	if err != nil {
		return err
	}
	for _, side := range [][2]id.User{{p.A, p.B}, {p.B, p.A}} {
		to, other := side[0], side[1]
		w.mu.Lock()
		online, version := w.roll.Standing(other).Online, w.roll.stamp(time.Now())
		w.mu.Unlock()
		if online && !told[other] {
			w.config.Tell([]id.User{to}, Standing{other, friends, version})
		}
	}
	return nil
}

func (w *Watch) trouble(ctx context.Context, err error) {
	if ctx.Err() == nil {
		w.config.Log.Warn("friends not told who is online, will retry", "error", err)
	}
}
